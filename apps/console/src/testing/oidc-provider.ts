import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** A real provider on this machine, which signs in whom the test says without a question. */
export type TestProvider = Awaited<ReturnType<typeof startOidcProvider>>;

const CLIENT = 'packhouse';
const SECRET = 'client-s3cret';
/** Seconds that an ID token is valid. */
const TTL_S = 60;

/** How wrong the clock of what runs now is, in milliseconds. */
const skewed = new AsyncLocalStorage<number>();
const dateNow = Date.now;

/** Starts it for a console that is at `consoleUrl`, at any port or this one. */
export async function startOidcProvider(consoleUrl: string, atPort = 0) {
  let claims: Record<string, unknown> = {};
  let sub = 'ada';
  let refuse = false;
  let skewMs = 0;
  let serve: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const server = createServer((request, response) => serve(request, response));
  await once(server.listen(atPort, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT,
        client_secret: SECRET,
        redirect_uris: [`${consoleUrl}/api/sign-in/oidc/callback`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups', 'realm_access'] },
    ttl: { IdToken: TTL_S, Session: 600, Grant: 600, Interaction: 600, AccessToken: 600 },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['test'] },
    findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id, ...claims }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    loadExistingGrant: async (context) => {
      const grant = new context.oidc.provider.Grant({
        clientId: CLIENT,
        accountId: context.oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  Date.now = () => dateNow() + (skewed.getStore() ?? 0);
  serve = (request, response) => {
    if (request.url?.startsWith('/interaction/')) {
      const result = refuse
        ? { error: 'access_denied', error_description: '<b>hostile\r\ntext</b>' }
        : { login: { accountId: sub } };
      return provider.interactionFinished(request, response, result);
    }
    return skewed.run(skewMs, () => handle(request, response));
  };

  return {
    issuer,
    client: {
      issuer: new URL(issuer),
      clientId: CLIENT,
      clientSecret: SECRET,
      scope: 'openid profile email',
    },
    /** Whom it signs in next, with these claims. */
    setPerson(next: string, given: Record<string, unknown>): void {
      [sub, claims, refuse] = [next, given, false];
    },
    /** It refuses the next sign-ins. */
    refuse: () => {
      refuse = true;
    },
    setSkew: (ms: number) => {
      skewMs = ms;
    },
    /** Follows its pages as a browser, from the address that the console led to, and returns the address it leads back to. */
    async visit(begin: string): Promise<URL> {
      const cookies = new Map<string, string>();
      let url = new URL(begin);
      for (let step = 0; step < 10; step += 1) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
        for (const line of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (value === '') cookies.delete(name);
          else cookies.set(name, value);
        }
        const to = answer.headers.get('location');
        if (to === null) throw new Error(`${url.href} answered ${answer.status}: ${await answer.text()}`);
        url = new URL(to, url);
        if (url.origin === consoleUrl) return url;
      }
      throw new Error('the provider leads nowhere');
    },
    async close(): Promise<void> {
      Date.now = dateNow;
      server.closeAllConnections();
      server.close();
    },
  };
}
