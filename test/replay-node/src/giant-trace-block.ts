/**
 * A block whose trace_block answer is too large to be held: one transaction with so many subcalls. The text is made
 * while it is sent; its length is known beforehand, because every subcall's text has the same length but for its
 * position.
 *
 *   [ root trace , subcall 0 , subcall 1 , … ]
 */
import { generateChain } from './generate-chain.js';
import type { RecordedBlock, RpcTrace } from './recorded-block.js';
import { recordedBlock } from './recorded-chain.js';
import type { AnswerPart, ServedBlock, ServedChain, ServedText } from './served-chain.js';

/** Which giant block. */
interface GiantTraceBlockOptions {
  /** Size of the trace_block answer, in millions of bytes; met to within one subcall. */
  megabytes: number;
  /** Default 1; the same seed gives the same block. */
  seed?: number;
  /** Default 1. */
  startNumber?: number;
  /** The block that it follows, to join it to a chain. */
  after?: Pick<ServedBlock, 'number' | 'hash' | 'timestamp'>;
}

/** What the pieces of the text are gathered to. */
const PIECE_BYTES = 1 << 20;
const WORDS = 24;

interface SubcallText {
  head: string;
  middle: string;
  tail: string;
  /** Length without the position. */
  fixedLength: number;
}

/** A chain of one block whose `trace_block` and flatCallTracer answers have the given size; every proof holds. */
export function giantTraceBlock(options: GiantTraceBlockOptions): ServedChain {
  const record = generateGiant(options);
  const root = record.traces?.[0] as RpcTrace;
  const subcall = subcallText(root);
  const target = Math.floor(options.megabytes * 1_000_000);
  const count = subcallsFor(target - 2 - JSON.stringify(root).length, subcall);
  root.subtraces = count;
  const traces = (): ServedText => tracesText(root, subcall, count);
  const small = recordedBlock(record);
  const block: ServedBlock = {
    ...small,
    text: (part) => giantText(part, record, traces) ?? (part === 'debugCall' ? undefined : small.text(part)),
    item: (part, index) => (isGiant(part) ? undefined : small.item(part, index)),
  };
  const transactionHash = record.block.transactions[0]?.hash;
  return {
    firstNumber: record.number,
    lastNumber: record.number,
    block: (number) => (number === record.number ? block : undefined),
    toNumber: (hash) => (hash === block.hash ? block.number : undefined),
    locateTransaction: (hash) => (hash === transactionHash ? { number: block.number, index: 0 } : undefined),
  };
}

/** A block of one transaction that calls a contract and succeeds. */
function generateGiant({ seed = 1, startNumber, after }: GiantTraceBlockOptions): RecordedBlock {
  for (let attempt = 0; ; attempt++) {
    const [record] = generateChain({
      length: 1,
      txsPerBlock: 1,
      tracesPerTx: 1,
      seed: seed + attempt,
      ...(startNumber === undefined ? {} : { startNumber }),
      ...(after === undefined ? {} : { after }),
    }) as [RecordedBlock];
    const root = record.traces?.[0];
    if (root?.type === 'call' && root.error === undefined && root.action.input !== '0x') return record;
  }
}

function isGiant(part: AnswerPart): boolean {
  return part === 'traces' || part === 'debugFlat' || part === 'debugFlatParity' || part === 'debugCall';
}

function giantText(
  part: AnswerPart,
  { block }: RecordedBlock,
  traces: () => ServedText,
): ServedText | undefined {
  if (part === 'traces') return traces();
  if (part !== 'debugFlat' && part !== 'debugFlatParity') return undefined;
  const inner = traces();
  const head = Buffer.from(`[{"txHash":"${block.transactions[0]?.hash}","result":`);
  const tail = Buffer.from('}]');
  return {
    byteLength: head.length + inner.byteLength + tail.length,
    *pieces() {
      yield head;
      yield* inner.pieces();
      yield tail;
    },
  };
}

/** A subcall's text, cut where its calldata's first word and where its position go. */
function subcallText(root: RpcTrace): SubcallText {
  const { action, blockHash, blockNumber, transactionHash, transactionPosition } = root;
  const words = `${String(action.input).slice(2)}${'0'.repeat(64)}`.slice(0, 64).repeat(WORDS);
  const text = JSON.stringify({
    action: {
      from: action.to,
      callType: 'call',
      gas: action.gas,
      input: `0x@${words}`,
      to: action.from,
      value: '0x0',
    },
    blockHash,
    blockNumber,
    result: { gasUsed: '0x5208', output: `0x${'1'.padStart(64, '0')}` },
    subtraces: 0,
    traceAddress: ['@'],
    transactionHash,
    transactionPosition,
    type: 'call',
  });
  const [head = '', middle = '', tail = ''] = text.replace('"@"', '@').split('@');
  const fixedLength = ','.length + head.length + 64 + middle.length + tail.length;
  return { head: `,${head}`, middle, tail, fixedLength };
}

/** How many subcalls fit. */
function subcallsFor(bytes: number, { fixedLength }: SubcallText): number {
  let count = 0;
  for (let left = bytes; left > 0; count++) left -= fixedLength + String(count).length;
  return Math.max(1, count);
}

function tracesText(root: RpcTrace, subcall: SubcallText, count: number): ServedText {
  const head = Buffer.from(`[${JSON.stringify(root)}`);
  let byteLength = head.length + 1 + count * subcall.fixedLength;
  // Positions of one digit, of two, …: each costs as many bytes.
  for (let from = 0, digits = 1; from < count; digits++) {
    const to = Math.min(count, 10 ** digits);
    byteLength += (to - from) * digits;
    from = to;
  }
  return {
    byteLength,
    *pieces() {
      yield head;
      let gathered: string[] = [];
      const perPiece = Math.ceil(PIECE_BYTES / subcall.fixedLength);
      for (let at = 0; at < count; at++) {
        // Each word differs, so that the text is not more compressible than calldata is.
        const word = Math.imul(at + 1, 0x9e3779b1) >>> 0;
        gathered.push(
          subcall.head,
          word.toString(16).padStart(64, '0'),
          subcall.middle,
          String(at),
          subcall.tail,
        );
        if ((at + 1) % perPiece === 0 || at === count - 1) {
          yield Buffer.from(gathered.join(''), 'latin1');
          gathered = [];
        }
      }
      yield Buffer.from(']');
    },
  };
}
