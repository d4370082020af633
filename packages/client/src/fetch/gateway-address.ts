import { isApiKey, PackhouseError } from '@packhouse/runtime';

/** The addresses of one network at a gateway. */
export interface GatewayAddress {
  /** Ends in `/v1/`, without a key. */
  base: string;
  /** A document under `<base><KEY>/bundle-api/`. */
  api(pathAndQuery: string): string;
  /** Where JSON-RPC is answered. */
  rpc: string;
  keys: string;
}

/**
 * Reads the address of a network at a gateway: `https://data.example.com/ethereum`, with or without `/v1/`.
 * Throws USAGE if it is none or has a key in it.
 */
export function gatewayAddress(text: string, apiKey: string): GatewayAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usage(
      `"${text.slice(0, 100)}" is not the address of a network at a gateway.`,
      'For example https://data.example.com/ethereum.',
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || /\/ph_/.test(url.pathname)) {
    throw usage(
      `The address at ${url.host} has more in it than the network.`,
      'Leave out the API key and everything behind the network, for example https://data.example.com/ethereum.',
    );
  }
  const base = `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/`;
  return {
    base,
    api: (pathAndQuery) => `${base}${apiKey}/bundle-api/${pathAndQuery}`,
    rpc: `${base}${apiKey}`,
    keys: `${url.origin}/.well-known/packhouse-manifest-keys.json`,
  };
}

/** Throws USAGE unless this is a whole API key; the message never repeats it. */
export function checkApiKey(text: string): string {
  if (isApiKey(text)) return text;
  throw usage(
    text === ''
      ? 'There is no API key.'
      : 'The API key is not a whole key: ph_, 8 letters or digits, _ and 43 more characters.',
    'Put it into PACKHOUSE_API_KEY or into a file for --api-key-file, as `packhouse keys create` printed it.',
  );
}

function usage(message: string, hint: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message, hint });
}
