import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS, type Kind, TABLES } from '@packhouse/chain';
import { isApiKey, PackhouseError, redact } from '@packhouse/runtime';
import { request } from 'undici';
import { usageError } from '../../terminal/parse.js';

const BROKE = 'the connection was closed before the end';

/** A file or an address. */
export type Source = { file: string } | { url: string };

/** Parses a path or an address. */
export function getSource(text: string): Source {
  return /^https?:\/\//.test(text) ? { url: text } : { file: text };
}

/** The name of a source in messages: of an address, without the key. */
export function toName(source: Source): string {
  if ('file' in source) return source.file;
  return redact(source.url.replace(/\/v1\/[^/]+\//, '/v1/…/'));
}

interface Opened {
  body: AsyncIterable<Uint8Array>;
  /** The address of the next page. */
  next: string | null;
}

/** Opens a source; null if the network does not have this kind. Throws DOWNLOAD_FAILED. */
export async function openSource(source: Source, cwd: string, signal: AbortSignal): Promise<Opened | null> {
  if ('file' in source) return { body: createReadStream(path.resolve(cwd, source.file)), next: null };
  const answer = await ask(source, signal);
  if (answer.statusCode === 200) {
    const link = String(answer.headers.link ?? '');
    const relative = /<([^>]+)>; rel="next"/.exec(link)?.[1];
    return {
      body: guarded(answer.body, source),
      next: relative === undefined ? null : new URL(relative, source.url).href,
    };
  }
  const problem = await getProblem(answer);
  if (problem.reason === 'kind-not-enabled') return null;
  throw failed(source, problem.detail);
}

/** The text of signed heads; empty if the gateway is one that has none. Throws as `readSource`. */
export async function readHeadSource(source: Source, cwd: string, signal: AbortSignal): Promise<string> {
  if ('file' in source) return readSource(source, cwd, signal);
  const answer = await ask(source, signal);
  if (answer.statusCode !== 200) {
    const { detail } = await getProblem(answer);
    if (answer.statusCode === 404) return '';
    throw failed(source, detail);
  }
  return answer.body.text().catch((error: unknown) => {
    throw failed(source, BROKE, error);
  });
}

type Answer = Awaited<ReturnType<typeof request>>;

function ask(source: { url: string }, signal: AbortSignal): Promise<Answer> {
  return request(source.url, { signal }).catch((error: unknown) => {
    throw failed(source, (error as Error).message, error);
  });
}

async function getProblem({ body, statusCode }: Answer): Promise<{ reason?: string; detail: string }> {
  const problem = (await body.json().catch(() => ({}))) as { reason?: string; detail?: string };
  return { ...problem, detail: problem.detail ?? `HTTP status ${statusCode}` };
}

/** The whole text of a source. Throws USAGE, DOWNLOAD_FAILED. */
export async function readSource(source: Source, cwd: string, signal: AbortSignal): Promise<string> {
  if ('file' in source) {
    return readFile(path.resolve(cwd, source.file), 'utf8').catch((error: unknown) => {
      throw unreadable(source.file, error);
    });
  }
  const opened = await openSource(source, cwd, signal);
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened?.body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/**
 * The addresses of the manifests of each kind, if `url` is a base address (ending in `/v1/`), or with `tables` of the logs of
 * tables; else `url` itself.
 */
export function manifestUrls(
  url: string,
  apiKey: string | undefined,
  { kinds, tables }: { kinds: readonly Kind[]; tables: boolean },
): string[] {
  if (!isBase(url)) return [url];
  const chosen = tables ? TABLES : kinds.length === 0 ? KINDS : kinds;
  const path = (kind: string): string =>
    tables ? `lake-manifest?table=${kind}` : `manifest?kind=${kind}&limit=100000`;
  return chosen.map((kind) => `${withKey(url, apiKey)}/bundle-api/${path(kind)}`);
}

/** The address of the signed heads, if `url` is a base address; else `url` itself. */
export function headUrl(url: string, apiKey: string | undefined): string {
  return isBase(url) ? `${withKey(url, apiKey)}/bundle-api/manifest/head` : url;
}

/** Whether this is the base address of a network. */
export function isBase(url: string): boolean {
  return /^https?:[^?]*\/v1\/?$/.test(url);
}

function withKey(base: string, apiKey: string | undefined): string {
  if (apiKey === undefined) {
    throw usageError('A base URL needs an API key.', 'Add --api-key, or set PACKHOUSE_API_KEY.');
  }
  if (!isApiKey(apiKey)) {
    throw usageError(
      'The API key is incomplete: ph_, 8 letters or digits, _ and 43 more characters.',
      'Give it as `packhouse keys create` printed it.',
    );
  }
  return `${base.replace(/\/?$/, '/')}${apiKey}`;
}

/** The error of a file that cannot be read. */
export function unreadable(file: string, cause: unknown): PackhouseError {
  return usageError(`Cannot read ${file}: ${(cause as Error).message}.`, undefined, cause);
}

async function* guarded(body: AsyncIterable<Uint8Array>, source: Source): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failed(source, BROKE, error);
  }
}

function failed(source: Source, reason: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `Cannot download ${toName(source)}: ${redact(reason).replace(/\.$/, '')}.`,
    hint: 'Check the URL and the API key, or download it with curl and give the file.',
    cause,
  });
}
