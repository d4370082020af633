import type { Kind } from '@packhouse/chain';
import type { SealedEntry } from '@packhouse/manifest';
import type { AbiInput } from '@packhouse/rows';
import { compileAbi } from '@packhouse/rows';
import { getOrAdd } from '@packhouse/runtime';
import { createDocumentTurns } from '../fetch/document-turns.js';
import { checkApiKey, gatewayAddress } from '../fetch/gateway-address.js';
import { createHttp, type Wait } from '../fetch/http.js';
import { type OpenLog, openLog, openMirror, planMirror } from '../mirror/mirror.js';
import { faultyFile, mirrorFiles } from '../mirror/mirror-files.js';
import { type Bound, parseBound } from '../mirror/range.js';
import type { FollowRequest, FollowStep } from './follow.js';
import { getMatch, type WantedRows } from './match-of.js';
import { type Quote, quoteFiles } from './quote.js';
import { type LogBatch, readLogs, type WantedLogs } from './read-logs.js';

export interface ClientOptions {
  /** A network at a gateway: `https://data.example.com/ethereum`. */
  url: string;
  apiKey: string;
  /** Told of every pause before it begins: the gateway asks for it, or something failed. */
  onWait?: (wait: Wait) => void;
  /** Told when a request is answered that broke before. */
  onBack?: () => void;
}

/** Blocks of one kind. An end is a number, or a text as `packhouse pull` takes it; absent: all that is published. */
export interface Blocks {
  kind: Kind;
  from?: number | string | undefined;
  to?: number | string | undefined;
  signal?: AbortSignal | undefined;
}

export interface FilesRequest extends Blocks {
  /** A folder for this kind of this network, and of one process at a time. It is a mirror as `packhouse pull` makes. */
  folder: string;
  /** Public keys to trust; absent: those of the folder, or at first those of the gateway. */
  trustKeyFile?: string;
  /** Leaves out what is not published, or behind the end of the plan, in place of refusing it. */
  partial?: boolean;
  /** Checks the whole manifest, in place of the entries of the range. */
  wholeManifest?: boolean;
}

/** Logs of a range; an end is as in `Blocks`. */
export type LogsRequest<Abi extends AbiInput = readonly []> = Omit<Blocks, 'kind'> &
  Omit<WantedLogs<Abi>, 'from' | 'to' | 'signal'>;

/** Files of a range, or those only that can hold such rows; the ABI is for names of events. */
export type QuoteRequest = Blocks & WantedRows & { abi?: AbiInput | undefined };

/** A checked file on the disk. */
export interface ClientFile {
  /** Its first block. */
  from: number;
  /** Its last block. */
  to: number;
  path: string;
  /** Its entry in the signed manifest. */
  entry: SealedEntry;
}

export interface Client {
  /**
   * The files of a range, ascending, as soon as each is in the folder. Throws BUNDLE_INVALID at one that the gateway
   * sends other than the manifest says, and as `packhouse pull` fails.
   */
  files(request: FilesRequest): AsyncGenerator<ClientFile>;
  /**
   * The logs of a range by address and topics, decoded by an ABI, ascending. Throws as `files`, USAGE, ABI_INVALID.
   */
  logs<const Abi extends AbiInput = readonly []>(
    request: LogsRequest<Abi>,
  ): AsyncGenerator<LogBatch<Abi>, void, undefined>;
  /**
   * The blocks of kinds with their rows, from a cursor or a block on to the head and on, and what is undone of them.
   * Ends with an error, an abort or `break` only: once the gateway has answered, it is asked until it answers again.
   * Throws FEED_INVALID, CURSOR_INVALID, CURSOR_FOREIGN, CURSOR_REMOVED, and as `files`.
   */
  follow<const Abi extends AbiInput = readonly []>(
    request: FollowRequest<Abi>,
  ): AsyncGenerator<FollowStep<Abi>, void, undefined>;
  /** What pulling a range, or rows of it, would take; downloads no files. */
  quote(request: QuoteRequest): Promise<Quote>;
  close(): Promise<void>;
}

/** Creates a client of one network at a gateway. Throws USAGE if the address or the key has another form. */
export function createClient({ url, apiKey, onWait, onBack }: ClientOptions): Client {
  const address = gatewayAddress(url, checkApiKey(apiKey));
  const turns = createDocumentTurns();
  const http = createHttp({ apiKey, onWait, onBack, turns });
  const patient = createHttp({ apiKey, onWait, onBack, turns, patient: true });
  /** Manifests of logs by the file of trusted keys, each kept as far as it was needed. */
  const manifests = new Map<string | undefined, Promise<OpenLog>>();
  const getManifest = (trustKeyFile: string | undefined): Promise<OpenLog> =>
    getOrAdd(manifests, trustKeyFile, () => {
      const { signal } = new AbortController();
      const opened = openLog({ folder: null, kind: 'logs', address, http, trustKeyFile, signal });
      opened.catch(() => manifests.delete(trustKeyFile));
      return opened;
    });
  return {
    async *files({ kind, folder, trustKeyFile, signal = new AbortController().signal, ...wanted }) {
      const mirror = await openMirror({ folder, kind, address, http, trustKeyFile, signal });
      try {
        const plan = await planMirror(mirror, { ...wanted, ...bounds(wanted) });
        for await (const file of mirrorFiles(mirror, plan)) {
          if (file.state === 'faulty') throw faultyFile(file);
          const { path, entry } = file;
          yield { from: entry.from, to: entry.to, path, entry };
        }
      } finally {
        await mirror.close();
      }
    },
    async *logs({ signal = new AbortController().signal, ...wanted }) {
      yield* readLogs({ address, http, getManifest }, { ...wanted, ...bounds(wanted), signal });
    },
    async *follow(request) {
      // Loaded with it alone: it proves the headers of new blocks.
      const { follow } = await import('./follow.js');
      yield* follow({ address, http: patient }, request);
    },
    async quote({ kind, abi, signal, ...wanted }) {
      const match = await getMatch(wanted, abi === undefined ? null : await compileAbi(abi));
      return quoteFiles({ address, http }, { kind, ...bounds(wanted), match }, signal);
    },
    close: async () => {
      await Promise.all([http.close(), patient.close()]);
    },
  };
}

function bounds({ from, to }: Pick<Blocks, 'from' | 'to'>): {
  from: Bound | undefined;
  to: Bound | undefined;
} {
  return {
    from: from === undefined ? undefined : parseBound(String(from), 'from'),
    to: to === undefined ? undefined : parseBound(String(to), 'to'),
  };
}
