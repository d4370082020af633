/** What the product can do, the folders that do it, and their lines of TypeScript and JavaScript outside tests. */
export interface Capability {
  name: string;
  /** Beginnings of paths. Of two that fit a file the longer one has it. */
  folders: readonly string[];
  lines: number;
}

/** How far a capability may grow before its number here has to be changed, by the commit that says why. */
const GROWTH = 1.1;

/**
 * What is wrong with a table: files of nobody, capabilities that grew by more than a tenth, and those that shrank by more
 * than that, whose room is not kept for others.
 */
export function checkCapabilities(
  table: readonly Capability[],
  files: readonly { path: string; text: string }[],
): string[] {
  const { lines, nobody } = countCapabilities(table, files);
  const grown = table.flatMap(({ name, lines: allowed }) => {
    const now = lines.get(name) ?? 0;
    if (now > allowed * GROWTH)
      return [`"${name}" has ${now} lines, over ${allowed} and a tenth: cut, or say why in the commit`];
    if (now * GROWTH < allowed) return [`"${name}" has ${now} lines, and its table says ${allowed}`];
    return [];
  });
  return [...nobody.map((path) => `${path} belongs to no capability`), ...grown];
}

/** The lines of each capability, and the files of none. */
function countCapabilities(
  table: readonly Capability[],
  files: readonly { path: string; text: string }[],
): { lines: Map<string, number>; nobody: string[] } {
  const lines = new Map(table.map(({ name }) => [name, 0]));
  const nobody: string[] = [];
  const folders = table
    .flatMap(({ name, folders }) => folders.map((folder) => ({ name, folder })))
    .sort((a, b) => b.folder.length - a.folder.length);
  for (const { path, text } of files) {
    const owner = folders.find(({ folder }) => path.startsWith(folder))?.name;
    if (owner === undefined) nobody.push(path);
    else lines.set(owner, (lines.get(owner) ?? 0) + text.split('\n').length - 1);
  }
  return { lines, nobody };
}

/** The lines of today. ARCHITECTURE.md says what each folder is for. */
export const CAPABILITIES: readonly Capability[] = [
  { name: 'prove blocks, write their canonical text', folders: ['packages/chain/'], lines: 7_726 },
  { name: 'compiled kernels: scan, read, deflate, outline', folders: ['packages/kernels/'], lines: 6_397 },
  {
    name: 'bundle format, filters, JSON text',
    folders: ['packages/bundle/', 'packages/json/'],
    lines: 3_146,
  },
  { name: 'signed manifest', folders: ['packages/manifest/'], lines: 901 },
  { name: 'typed rows, ABI, transfers, Parquet', folders: ['packages/rows/'], lines: 4_530 },
  { name: 'download, mirror, verify, follow', folders: ['packages/client/'], lines: 7_604 },
  { name: 'networks file', folders: ['packages/networks/'], lines: 998 },
  { name: 'fetch from nodes: pool, batches, budgets', folders: ['packages/node-rpc/'], lines: 9_201 },
  { name: 'forward to nodes', folders: ['packages/node-rpc/src/forward/'], lines: 4_044 },
  { name: 'Postgres', folders: ['packages/database/'], lines: 12_863 },
  { name: 'object stores', folders: ['packages/object-store/'], lines: 1_876 },
  { name: 'queues', folders: ['packages/queue/'], lines: 1_840 },
  { name: 'settings, errors, logs, metrics', folders: ['packages/runtime/'], lines: 2_622 },
  {
    name: 'plan, ingest, publish, quote',
    folders: ['packages/pipeline/', 'apps/ingester/', 'apps/packer/'],
    lines: 7_467,
  },
  {
    name: 'lake tables',
    folders: ['packages/lake/', 'apps/gateway/src/lake/', 'apps/gateway/src/routes/lake/'],
    lines: 2_851,
  },
  { name: 'audit, repair, adopt', folders: ['packages/audit/'], lines: 3_321 },
  { name: 'coverage, progress, history', folders: ['packages/report/'], lines: 1_927 },
  { name: 'feed', folders: ['packages/feed/'], lines: 1_372 },
  { name: 'webhooks and notifications', folders: ['packages/delivery/', 'packages/outbound/'], lines: 1_881 },
  { name: 'operations for operators', folders: ['packages/operations/'], lines: 5_925 },
  { name: 'NFT refresh', folders: ['packages/nft/'], lines: 978 },
  { name: 'gateway: pointers, downloads, access', folders: ['apps/gateway/'], lines: 11_156 },
  {
    name: 'gateway: JSON-RPC methods and filters',
    folders: [
      'apps/gateway/src/methods/',
      'apps/gateway/src/filters/',
      'apps/gateway/src/cache/',
      'apps/gateway/src/rpc/',
    ],
    lines: 4_926,
  },
  { name: 'console: server', folders: ['apps/console/'], lines: 2_323 },
  { name: 'console: pages', folders: ['apps/console/web/'], lines: 10_289 },
  { name: 'command line', folders: ['apps/cli/'], lines: 7_785 },
  { name: 'packhouse local', folders: ['apps/cli/src/local/', 'infra/local/'], lines: 5_406 },
  { name: 'npm scripts, image, charts, dashboards', folders: ['infra/'], lines: 2_029 },
];
