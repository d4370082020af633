import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS, type Kind } from '@packhouse/chain';
import { PackhouseError, redact } from '@packhouse/runtime';
import { request } from 'undici';
import { isWholeKey } from './find-key.js';

/** A file or an address. */
export type Source = { file: string } | { url: string };

/** Parses a path or an address. */
export function sourceOf(text: string): Source {
  return /^https?:\/\//.test(text) ? { url: text } : { file: text };
}

/** The name of a source in messages: of an address, without the key. */
export function nameOf(source: Source): string {
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
  const answer = await request(source.url, { signal }).catch((error: unknown) => {
    throw failed(source, (error as Error).message, error);
  });
  if (answer.statusCode === 200) {
    const link = String(answer.headers.link ?? '');
    const relative = /<([^>]+)>; rel="next"/.exec(link)?.[1];
    return {
      body: guarded(answer.body, source),
      next: relative === undefined ? null : new URL(relative, source.url).href,
    };
  }
  const problem = (await answer.body.json().catch(() => ({}))) as { reason?: string; detail?: string };
  if (problem.reason === 'kind-not-enabled') return null;
  throw failed(source, problem.detail ?? `the answer has the status ${answer.statusCode}`);
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

/** The addresses of the manifests of each kind, if `url` is a base address (ending in `/v1/`); else `url` itself. */
export function manifestUrls(url: string, apiKey: string | undefined, kinds: readonly Kind[]): string[] {
  const base = /^[^?]*\/v1\/?$/.test(url) ? url.replace(/\/?$/, '/') : null;
  if (base === null) return [url];
  if (apiKey === undefined) {
    throw new PackhouseError({
      code: 'USAGE',
      message: 'The manifest at a base address needs an API key.',
      hint: 'Add --api-key, or set PACKHOUSE_API_KEY.',
    });
  }
  if (!isWholeKey(apiKey)) {
    throw new PackhouseError({
      code: 'USAGE',
      message: 'The API key is not a whole key: ph_, 8 letters or digits, _ and 43 more characters.',
      hint: 'Give it as `packhouse keys create` printed it.',
    });
  }
  const chosen = kinds.length === 0 ? KINDS : kinds;
  return chosen.map((kind) => `${base}${apiKey}/bundle-api/manifest?kind=${kind}&limit=100000`);
}

/** The error of a file that cannot be read. */
export function unreadable(file: string, cause: unknown): PackhouseError {
  return new PackhouseError({
    code: 'USAGE',
    message: `The file ${file} cannot be read: ${(cause as Error).message}.`,
    cause,
  });
}

async function* guarded(body: AsyncIterable<Uint8Array>, source: Source): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failed(source, 'the connection broke before the end', error);
  }
}

function failed(source: Source, why: string, cause?: unknown): PackhouseError {
  return new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `${nameOf(source)} could not be downloaded: ${redact(why).replace(/\.$/, '')}.`,
    hint: 'Check the address and the API key, or download it with curl and give the file.',
    cause,
  });
}
