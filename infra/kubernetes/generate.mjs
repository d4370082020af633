// `node infra/kubernetes/generate.mjs`: writes what follows from other files here, which a test compares:
// the alerts as the Prometheus operator wants them, and the Helm chart from the same manifests.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('./', import.meta.url));
const read = (file) => readFileSync(`${here}${file}`, 'utf8');
const version = JSON.parse(read('../../apps/cli/package.json')).version;

/** Lines with `spaces` before each that is not empty. */
const indent = (text, spaces) => text.replace(/^(?=.)/gm, ' '.repeat(spaces));

/** What stands in a manifest, and what in the chart. */
const VALUES = [
  [/image: packhouse$/gm, 'image: {{ .Values.image | quote }}'],
  [/serviceAccountName: packhouse$/gm, 'serviceAccountName: {{ .Values.serviceAccount }}'],
  [/secretRef: \{ name: packhouse \}/g, 'secretRef: { name: {{ .Values.secret }} }'],
  [/secretName: packhouse-signing-key/g, 'secretName: {{ .Values.signingKeySecret }}'],
];

/** The chart's form of a manifest of `base`. */
function template(name, text) {
  const role = name.replace('.yaml', '');
  let chart = VALUES.reduce((was, [pattern, value]) => was.replace(pattern, value), text);
  chart = chart
    .replace(/^ {2}replicas: \d+$/m, replicas(role))
    .replace(
      /^( +)resources:\n(?: {12}.*\n)+/m,
      `$1resources: {{- toYaml .Values.resources.${role} | nindent 12 }}\n`,
    );
  if (role === 'service-account')
    return chart.replace(/name: packhouse$/m, 'name: {{ .Values.serviceAccount }}');
  if (role === 'settings')
    return `${chart.replace(/^data:[\s\S]*$/m, `${CHART_DATA}\n`)}---\n${CHART_NETWORKS}`;
  if (role === 'migrate') return chart.replace(/^( {2}labels: .*)$/m, `$1\n${CHART_HOOK}`);
  return chart;
}

const replicas = (role) =>
  role === 'console'
    ? '  replicas: {{ .Values.replicas.console }}'
    : `  {{- if not .Values.autoscaling }}\n  replicas: {{ .Values.replicas.${role} }}\n  {{- end }}`;
const CHART_DATA = 'data: {{- toYaml .Values.settings | nindent 2 }}';
const CHART_NETWORKS = `apiVersion: v1
kind: ConfigMap
metadata:
  name: packhouse-networks
data:
  networks.yaml: {{- toYaml (required "networks: the text of networks.yaml is needed (docs/containers.md#kubernetes)." .Values.networks) | nindent 4 }}
`;
const CHART_HOOK = `  annotations:
    helm.sh/hook: post-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation`;

/** The replicas and resources of the manifests, as values. */
function defaults(manifests) {
  const lines = { replicas: [], resources: [] };
  for (const [name, text] of manifests) {
    const role = name.replace('.yaml', '');
    const count = /^ {2}replicas: (\d+)$/m.exec(text)?.[1];
    if (count !== undefined) lines.replicas.push(`  ${role}: ${count}`);
    const resources = /^ +resources:\n((?: {12}.*\n)+)/m.exec(text)?.[1];
    if (resources !== undefined)
      lines.resources.push(`  ${role}:\n${resources.replace(/^ {12}/gm, '    ').trimEnd()}`);
  }
  return `replicas:\n${lines.replicas.join('\n')}\nresources:\n${lines.resources.join('\n')}\n`;
}

/** Settings that hold a secret: they belong to the Secret, not to the values. */
const SECRETS = [
  'DATABASE_URL',
  'REDIS_URL',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
];
/** Variables of Node.js, the AWS SDK and OpenTelemetry, and secrets in mounted files. */
const OTHERS = '^((AWS|NODE|OTEL)_[A-Z0-9_]+|NO_PROXY|[A-Z0-9_]+_FILE)$';

/** What helm checks the values with: a setting that does not exist, or is a secret, is refused by name. */
function schema() {
  const rows = read('../../docs/settings.md')
    .match(/^- `[A-Z][^:(]*/gm)
    .join('');
  const isValue = (name) => !SECRETS.includes(name) && !name.startsWith('PACKHOUSE_');
  const names = [...new Set(rows.match(/(?<=`)[A-Z][A-Z0-9_]+(?=`)/g))].filter(isValue);
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const each = (of) => ({ type: 'object', additionalProperties: of });
  const properties = {
    image: text,
    serviceAccount: text,
    secret: text,
    signingKeySecret: text,
    networks: text,
    settings: {
      type: 'object',
      description: 'Settings of docs/settings.md that are no secrets, each as a text.',
      properties: Object.fromEntries(names.sort().map((name) => [name, text])),
      patternProperties: { [OTHERS]: text },
      propertyNames: { not: { enum: SECRETS } },
      additionalProperties: false,
    },
    autoscaling: flag,
    monitoring: flag,
    replicas: each({ type: 'integer', minimum: 0 }),
    resources: each({ type: 'object' }),
    global: { type: 'object' },
  };
  const all = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
  return `${JSON.stringify({ ...all, properties, additionalProperties: false }, null, 2)}\n`;
}

/** Every generated file below infra, and its text. */
export function generate() {
  const manifests = readdirSync(`${here}base`)
    .filter((name) => name !== 'kustomization.yaml')
    .map((name) => [name, read(`base/${name}`)]);
  const rules = read('../alerts/packhouse.rules.yaml').replace(/^(?:#.*\n)+/, '');
  const rule = `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: packhouse
  labels: { app.kubernetes.io/name: packhouse }
spec:
`;
  const settings = /^data:\n([\s\S]*)$/m.exec(read('base/settings.yaml'))[1];
  const chart = 'helm/packhouse';
  return {
    'kubernetes/components/monitoring/prometheus-rule.yaml': `# Written by infra/kubernetes/generate.mjs from infra/alerts.\n${rule}${indent(rules, 2)}`,
    ...Object.fromEntries(
      manifests.map(([name, text]) => [`${chart}/templates/${name}`, template(name, text)]),
    ),
    [`${chart}/templates/autoscalers.yaml`]: `{{- if .Values.autoscaling }}\n${read('components/autoscaling/autoscalers.yaml')}{{- end }}\n`,
    [`${chart}/templates/monitoring.yaml`]: `{{- if .Values.monitoring }}\n${read('components/monitoring/pod-monitor.yaml')}---\n${rule}{{ .Files.Get "rules.yaml" | indent 2 }}\n{{- end }}\n`,
    [`${chart}/rules.yaml`]: rules,
    [`${chart}/Chart.yaml`]: `apiVersion: v2
name: packhouse
description: Blockchain history in bulk, proved, packed and served
type: application
version: ${version}
appVersion: ${version}
`,
    [`${chart}/values.schema.json`]: schema(),
    [`${chart}/values.yaml`]: `# Everything that can be set. docs/containers.md#kubernetes has what must be there before: Postgres, the S3 store and two Secrets.
image: localhost/packhouse:${version}
serviceAccount: packhouse
# The Secret with DATABASE_URL and other variables that are secrets (SMTP_URL, OIDC_CLIENT_SECRET), and that with signing-key.pem.
secret: packhouse
signingKeySecret: packhouse-signing-key
# The text of networks.yaml: --set-file networks=networks.yaml
networks: ""
# Settings that are no secrets.
settings:
${settings}# HorizontalPodAutoscalers by CPU and by external metrics; objects of the Prometheus operator.
autoscaling: false
monitoring: false
${defaults(manifests)}`,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of Object.entries(generate())) writeFileSync(`${here}../${file}`, text);
}
