import {
  createGrouper,
  type Deflate,
  deflatePiece,
  FRAGMENT_BYTES,
  type Fragment,
  type Group,
  hasFilter,
  joinPieces,
  type Piece,
  toFragment,
} from '@packhouse/bundle';
import type { BlockSummary, Kind } from '@packhouse/chain';
import type { StagedKind } from '@packhouse/database';

/** Canonical text, which is ASCII: one character, one byte. */
type Text = string | Buffer;

/** A proved block with its texts. */
export interface ProvedRecord {
  block: BlockSummary;
  transactionCount: number;
  texts: { blockHead: Text; transactions: Text; blockTail: Text; receipts?: Text; logs?: Text };
  /** Their text, or the piece they were deflated to while they arrived. */
  traces?: Text | Piece | undefined;
}

/** Whether traces are deflated already. */
export function isPiece(traces: Text | Piece): traces is Piece {
  return typeof traces !== 'string' && 'body' in traces;
}

/** Turns proved blocks into fragments of every kind asked for. */
interface FragmentWriter {
  /** Waits while too much text is still being deflated, so that memory stays bounded. */
  push(record: ProvedRecord): Promise<void>;
  close(): Promise<StagedKind[]>;
}

/** Raw bytes that may wait to be deflated. */
const MAX_DEFLATING_BYTES = 16_000_000;

/**
 * Makes a writer for a run of consecutive blocks.
 *
 * Each kind is grouped by its own size. If a block's transactions are a fragment of their own, its `blocks` fragment is
 * joined from three pieces (head, the transactions' bytes, tail), so that they are deflated once. A fragment holds at
 * most `maxBlocks` blocks: a bundle is cut between fragments only.
 */
export function createFragmentWriter(
  kinds: readonly Kind[],
  maxBlocks = Number.POSITIVE_INFINITY,
  deflateText: Deflate = (text) => deflatePiece(text),
): FragmentWriter {
  let deflating = 0;
  const waiting = new Set<Promise<unknown>>();
  const deflate: Deflate = (text, kind) => {
    deflating += text.length;
    const piece = deflateText(text, kind).finally(() => {
      deflating -= text.length;
      waiting.delete(piece);
    });
    // The caller awaits it at close(); until then a rejection must not count as unhandled.
    piece.catch(() => undefined);
    waiting.add(piece);
    return piece;
  };

  const writers = new Map(kinds.map((kind) => [kind, createKindWriter(deflate, kind, maxBlocks)]));

  return {
    async push({ block: { number }, texts, traces }) {
      const transactions = writers.get('transactions');
      const blocks = writers.get('blocks');
      const shared =
        transactions !== undefined && blocks !== undefined && texts.transactions.length >= FRAGMENT_BYTES
          ? deflate(ascii(texts.transactions), 'transactions')
          : undefined;
      if (shared !== undefined) {
        transactions?.alone(number, shared);
        const head = deflate(ascii(texts.blockHead));
        const tail = deflate(ascii(texts.blockTail));
        blocks?.alone(number, Promise.all([head, shared, tail]).then(joinPieces));
      } else {
        transactions?.text(number, texts.transactions);
        blocks?.text(number, joined([texts.blockHead, texts.transactions, texts.blockTail]));
      }
      if (texts.receipts !== undefined) writers.get('receipts')?.text(number, texts.receipts);
      if (texts.logs !== undefined) writers.get('logs')?.text(number, texts.logs);
      const ofTraces = writers.get('traces');
      if (traces !== undefined && isPiece(traces)) ofTraces?.alone(number, Promise.resolve(traces));
      else if (traces !== undefined) ofTraces?.text(number, traces);
      while (deflating > MAX_DEFLATING_BYTES) await Promise.race(waiting);
    },
    async close() {
      const staged: StagedKind[] = [];
      for (const [kind, writer] of writers) staged.push({ kind, fragments: await writer.close() });
      return staged;
    },
  };
}

interface KindWriter {
  /** Adds a record to the fragment that is being filled. */
  text(block: number, text: Text): void;
  /** Adds a record that is a fragment of its own, already being deflated. */
  alone(block: number, piece: Promise<Piece>): void;
  close(): Promise<Fragment[]>;
}

function createKindWriter(deflate: Deflate, kind: Kind, maxBlocks: number): KindWriter {
  const itemsOf = hasFilter(kind) ? kind : undefined;
  const grouper = createGrouper();
  const fragments: Promise<Fragment>[] = [];
  const open: Text[] = [];
  const add = (firstBlock: number, lastBlock: number, piece: Promise<Piece>): void => {
    const fragment = piece.then((made) => toFragment({ firstBlock, lastBlock }, made));
    fragment.catch(() => undefined);
    fragments.push(fragment);
  };
  const addGroup = ({ firstBlock, lastBlock, rawLength }: Group): void => {
    const records = open.splice(0, lastBlock - firstBlock + 1);
    add(firstBlock, lastBlock, deflate(joinRecords(records, rawLength), itemsOf));
  };
  const flush = (): void => {
    const group = grouper.flush();
    if (group !== null) addGroup(group);
  };
  return {
    text(block, text) {
      open.push(text);
      for (const group of grouper.push(block, text.length)) addGroup(group);
      if (open.length >= maxBlocks) flush();
    },
    alone(block, piece) {
      flush();
      add(block, block, piece);
    },
    close() {
      flush();
      return Promise.all(fragments);
    },
  };
}

/** The records, joined by commas. */
function joinRecords(records: readonly Text[], rawLength: number): Buffer {
  const [only] = records;
  if (only !== undefined && records.length === 1) return ascii(only);
  const all = Buffer.allocUnsafe(rawLength);
  let at = 0;
  for (const [i, record] of records.entries()) {
    if (i > 0) at += all.write(',', at, 'latin1');
    at += typeof record === 'string' ? all.write(record, at, 'latin1') : record.copy(all, at);
  }
  return all;
}

function joined(texts: readonly Text[]): Text {
  return texts.every((text) => typeof text === 'string') ? texts.join('') : Buffer.concat(texts.map(ascii));
}

function ascii(text: Text): Buffer {
  return typeof text === 'string' ? Buffer.from(text, 'latin1') : text;
}
