import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isOnPath, root } from './pasted.js';

const run = promisify(execFile);
const infra = path.join(root, 'infra');
const read = (file: string): Promise<string> => readFile(path.join(infra, file), 'utf8');

interface Container {
  name: string;
  args: string[];
  env?: { name: string }[];
  securityContext: Record<string, unknown>;
}
interface Manifest {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  data?: Record<string, string>;
  spec: { template: { spec: { containers: Container[]; securityContext: Record<string, unknown> } } };
}

const base = (await readdir(path.join(infra, 'kubernetes/base'))).filter(
  (name) => name !== 'kustomization.yaml',
);
const manifests = (await Promise.all(base.map((name) => read(`kubernetes/base/${name}`)))).flatMap((text) =>
  parseAllDocuments(text).map((document) => document.toJS() as Manifest),
);
const pods = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
const { services } = parse(await read('image/compose.yaml'), { merge: true }) as {
  services: Record<string, { image: string; command: string[]; environment: Record<string, string> }>;
};
const ours = Object.values(services).filter(({ image }) => image.includes('packhouse'));

/** Every variable of the settings page. */
const variables = new Set(
  (await readFile(path.join(root, 'docs/settings.md'), 'utf8')).match(/\b[A-Z][A-Z0-9_]+\b/g),
);
/** Variables that only the networks files beside these manifests name. */
const OWN = new Set(['NODE_URL']);

test('what is generated is of the manifests and alerts', async () => {
  const { generate } = (await import(path.join(infra, 'kubernetes/generate.mjs'))) as {
    generate(): Record<string, string>;
  };
  const files = generate();
  for (const [file, text] of Object.entries(files))
    expect(await read(file), `${file}: run node infra/kubernetes/generate.mjs`).toBe(text);
  const templates = await readdir(path.join(infra, 'helm/packhouse/templates'));
  expect(templates.filter((name) => files[`helm/packhouse/templates/${name}`] === undefined)).toEqual([]);
});

test('every process of the manifests and of compose is a command, and its variables are settings', async () => {
  const roles = ['console', 'gateway', 'ingester', 'migrate', 'packer'];
  const args = pods.map(({ spec }) => spec.template.spec.containers.map((container) => container.args));
  expect(args.flat(2).sort()).toEqual(roles);
  expect([...new Set(ours.flatMap(({ command }) => command))].sort()).toEqual(roles);
  const named = [
    ...manifests.flatMap(({ kind, data }) => (kind === 'ConfigMap' ? Object.keys(data ?? {}) : [])),
    ...pods.flatMap(({ spec }) =>
      spec.template.spec.containers.flatMap(({ env = [] }) => env.map(({ name }) => name)),
    ),
    ...ours.flatMap(({ environment }) => Object.keys(environment)),
  ];
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !variables.has(name) && !OWN.has(name))).toEqual([]);
});

test('values are settings by name, and no secrets; what is commented out is one too', async () => {
  const { properties } = JSON.parse(await read('helm/packhouse/values.schema.json')) as {
    properties: Record<string, { properties?: Record<string, unknown>; propertyNames?: unknown }>;
  };
  const values = await read('helm/packhouse/values.yaml');
  expect(Object.keys(properties)).toEqual(
    expect.arrayContaining(Object.keys(parse(values) as Record<string, unknown>)),
  );
  const settings = Object.keys(properties.settings?.properties ?? {});
  const named = [...values.matchAll(/^ {2}(?:# )?([A-Z][A-Z0-9_]+): /gm)].map(([, name]) => name ?? '');
  expect(named).toEqual(expect.arrayContaining(['CONSOLE_URL', 'SMTP_FROM', 'OIDC_ROLES', 'METRICS_PORT']));
  expect(named.filter((name) => !settings.includes(name))).toEqual([]);
  expect(settings.filter((name) => !variables.has(name))).toEqual([]);
  const secrets = ['DATABASE_URL', 'SMTP_URL', 'OIDC_CLIENT_SECRET'];
  expect(properties.settings?.propertyNames).toEqual({
    not: { enum: expect.arrayContaining(secrets) },
  });
  expect(settings).not.toEqual(expect.arrayContaining(secrets));
});

test('no container has rights that it does not need', () => {
  for (const { metadata, spec } of pods) {
    const { containers, securityContext } = spec.template.spec;
    expect(securityContext, metadata.name).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532 });
    for (const container of containers)
      expect(container.securityContext, metadata.name).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
  }
  for (const service of ours) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
});

const validator = isOnPath('kubernetes-validate');

test.skipIf(!isOnPath('kustomize') || !validator)(
  'the overlays are rendered, and Kubernetes knows every field (needs kustomize and kubernetes-validate)',
  async () => {
    for (const [overlay, objects] of [
      ['small', 15],
      ['production', 20],
    ] as const) {
      const { stdout } = await run('kustomize', ['build', path.join(infra, 'kubernetes/overlays', overlay)]);
      expect(stdout.match(/^kind: /gm)).toHaveLength(objects);
      expect(await unknownTo(stdout)).toEqual([]);
      // Autoscalers and a number of replicas would work against each other.
      const replicas = (parseAllDocuments(stdout).map((document) => document.toJS()) as Manifest[])
        .filter((each) => each.kind === 'Deployment' && 'replicas' in each.spec)
        .map(({ metadata }) => metadata.name);
      expect(replicas.sort()).toEqual(
        overlay === 'production'
          ? ['packhouse-console']
          : ['packhouse-console', 'packhouse-gateway', 'packhouse-ingester', 'packhouse-packer'],
      );
    }
  },
);

test.skipIf(!isOnPath('helm') || !isOnPath('kustomize') || !validator)(
  'the chart gives what the manifests give (needs helm, kustomize and kubernetes-validate)',
  async () => {
    const chart = path.join(infra, 'helm/packhouse');
    await run('helm', ['lint', '--strict', chart, '--set', 'networks=x']);
    const networks = path.join(infra, 'kubernetes/overlays/small/networks.yaml');
    const template = async (...more: string[]): Promise<string> =>
      (await run('helm', ['template', 'packhouse', chart, '--set-file', `networks=${networks}`, ...more]))
        .stdout;
    const byName = (text: string): Record<string, unknown> =>
      Object.fromEntries(
        parseAllDocuments(text)
          .map((document) => document.toJS() as Manifest)
          .map((each) => [`${each.kind} ${each.metadata.name}`, each]),
      );
    const all = await template(
      '--set',
      'autoscaling=true',
      '--set',
      'monitoring=true',
      '--set',
      'image=localhost/packhouse:0.1.0',
    );
    expect(await unknownTo(all)).toEqual([]);
    const production = await run('kustomize', ['build', path.join(infra, 'kubernetes/overlays/production')]);
    const charted = byName(all);
    const job = charted['Job packhouse-migrate'] as { metadata: { annotations?: unknown } };
    expect(job.metadata.annotations).toEqual({
      'helm.sh/hook': 'post-install,pre-upgrade',
      'helm.sh/hook-delete-policy': 'before-hook-creation',
    });
    delete job.metadata.annotations;
    expect(charted).toEqual(byName(production.stdout));
    await expect(run('helm', ['template', 'packhouse', chart])).rejects.toThrow(
      'the text of networks.yaml is needed',
    );
    for (const wrong of ['CONSOLE_ULR=x', 'SMTP_URL=smtps://a:b@c'])
      await expect(template('--set', `settings.${wrong}`)).rejects.toThrow(wrong.split('=')[0] ?? '');
  },
);

/** What a validator of Kubernetes' own schemas does not accept; it has none of the Prometheus operator's objects. */
async function unknownTo(text: string): Promise<string[]> {
  const validating = run('kubernetes-validate', ['--strict', '-']);
  validating.child.stdin?.end(text);
  const { stdout, stderr } = await validating.catch((error: { stdout: string; stderr: string }) => error);
  const lines = (stdout + stderr).split('\n').filter((line) => line !== '');
  expect(lines.length).toBeGreaterThan(0);
  return lines.filter((line) => !line.includes(' passed ') && !line.includes('monitoring.coreos.com'));
}

test('what the image takes from the repository is there', async () => {
  const text = await read('image/Containerfile');
  for (const [file] of text.matchAll(/infra\/image\/\w+\.mjs/g))
    expect(existsSync(path.join(root, file)), file).toBe(true);
  expect(text).toMatch(/^USER \d+:\d+$/m);
});
