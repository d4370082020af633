import { readFile } from 'node:fs/promises';
import { KINDS } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import type { Network } from './network.js';
import { networksFileSchema } from './network-schema.js';
import { fieldName, issueProblems, type Path, type Problem } from './problems.js';
import { substitute } from './substitute.js';

/** Most characters of a networks file: a larger one is the wrong file. */
const MAX_CHARACTERS = 1_000_000;

/** Reads a networks file, YAML or JSON. Throws NETWORKS_FILE_INVALID if it is missing, unreadable or malformed. */
export async function loadNetworks(
  path: string,
  env: Record<string, string | undefined>,
): Promise<Network[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ENOENT'
        ? 'there is no such file'
        : code === 'EISDIR'
          ? 'it is a folder'
          : `reading it failed (${code})`;
    throw new PackhouseError({
      code: 'NETWORKS_FILE_INVALID',
      message: `The networks file ${path} cannot be used: ${why}.`,
      hint: 'Set NETWORKS_FILE to a file like networks.example.yaml.',
      data: { source: path },
      cause: error,
    });
  }
  return parseNetworks(text, { source: path, env });
}

/**
 * Parses the text of a networks file, YAML or JSON (a subset of YAML), and fills in defaults.
 *
 * `source` is the file's name for messages. Throws NETWORKS_FILE_INVALID with every problem, its line and field.
 */
export function parseNetworks(
  text: string,
  options: { source: string; env: Record<string, string | undefined> },
): Network[] {
  const { source } = options;
  if (text.length > MAX_CHARACTERS) {
    throw invalid(source, [
      { line: 1, text: `the file has ${text.length} characters, expected at most 1000000` },
    ]);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2' });
  if (document.errors.length > 0) {
    throw invalid(
      source,
      document.errors.map((error) => ({ line: lines.linePos(error.pos[0]).line, text: error.message })),
    );
  }
  const toLine = (path: Path): number => lineOfPath(document, lines, path);

  let raw: unknown;
  try {
    raw = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw invalid(source, [{ line: 1, text: error instanceof Error ? error.message : String(error) }]);
  }
  const { tree, missing } = substitute(raw, options.env);
  const problems = missing.map(
    ({ path, name }): Problem => ({
      line: toLine(path),
      text: `${fieldName(path)} needs the environment variable ${name}, which is not set`,
    }),
  );
  const parsed = networksFileSchema.safeParse(tree);
  const unfilled = new Set(missing.map(({ path }) => path.join('/')));
  for (const issue of parsed.error?.issues ?? []) {
    // An address with a missing variable is invalid too, but the variable is reported already.
    if (unfilled.has(issue.path.join('/'))) continue;
    problems.push(...issueProblems(issue, tree, toLine));
  }
  if (parsed.success) problems.push(...duplicates(parsed.data.networks, toLine));
  if (problems.length > 0 || !parsed.success) throw invalid(source, problems);
  return parsed.data.networks.map(withNames);
}

type ParsedNetwork = z.output<typeof networksFileSchema>['networks'][number];

function withNames(network: ParsedNetwork): Network {
  const { id, family, baseUrl, rpc } = network;
  const upstreams = network.upstreams.map((upstream, index) => ({
    ...upstream,
    name: upstream.name ?? `upstream-${index + 1}`,
    provider: upstream.provider ?? new URL(upstream.url).hostname.replace(/^\[|\]$/g, ''),
  }));
  if (network.family !== 'evm') {
    const chainId = network.family === 'core' ? network.chainId : 0;
    return { ...WITHOUT_BLOCKS, id, rpc, baseUrl, upstreams, family, chainId };
  }
  const { chainId, bundles, proofs, ...rest } = network;
  return {
    ...rest,
    chainId,
    upstreams,
    proofs: { ...proofs, chainId },
    // In the order of the codes, not of the file, and each once.
    bundles: { ...bundles, kinds: KINDS.filter((kind) => bundles.kinds.includes(kind)) },
  };
}

/** The fields of a network whose blocks are not downloaded. */
const WITHOUT_BLOCKS = {
  finality: { tag: false, depth: 0 },
  pollIntervalMs: 60_000,
  proofs: {
    header: 'trust',
    transactions: 'trust',
    receipts: 'trust',
    senders: 'off',
    extraFields: 'keep',
  },
  bundles: { enabled: false, kinds: [], maxBytes: 1_000_000, maxBlocks: 100_000 },
} as const satisfies Partial<Network>;

function duplicates(networks: readonly ParsedNetwork[], toLine: (path: Path) => number): Problem[] {
  const problems: Problem[] = [];
  const ids = new Map<string, number>();
  for (const [index, network] of networks.entries()) {
    const path = ['networks', index, 'id'];
    const first = ids.get(network.id);
    if (first !== undefined) {
      problems.push({
        line: toLine(path),
        text: `${fieldName(path)} is "${network.id}", already used on line ${first}: ids must be unique`,
      });
    } else ids.set(network.id, toLine(path));
    const { integrity, quorum } = network.rpc;
    if (integrity === 'quorum' && quorum.agree > network.upstreams.length) {
      const where = ['networks', index, 'rpc', 'quorum', 'agree'];
      const text = `${fieldName(where)} is ${quorum.agree}, and there are ${network.upstreams.length} upstreams`;
      problems.push({ line: toLine(where), text });
    }
    const names = new Set<string>();
    for (const [position, upstream] of network.upstreams.entries()) {
      const name = upstream.name ?? `upstream-${position + 1}`;
      if (names.has(name)) {
        const where = ['networks', index, 'upstreams', position, 'name'];
        problems.push({
          line: toLine(where),
          text: `${fieldName(where)} is "${name}", already used: names must be unique within a network`,
        });
      }
      names.add(name);
    }
  }
  return problems;
}

/** The line of a field; that of its parent if it is missing. */
function lineOfPath(document: Document, lines: LineCounter, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function invalid(source: string, problems: readonly Problem[]): PackhouseError {
  const sorted = [...problems].sort((a, b) => a.line - b.line);
  return new PackhouseError({
    code: 'NETWORKS_FILE_INVALID',
    message: `${source} is not a valid networks file: ${sorted.map(({ line, text }) => `line ${line}: ${text}`).join('; ')}.`,
    hint: 'Every field is described in networks.example.yaml.',
    data: { source, problems: sorted },
  });
}
