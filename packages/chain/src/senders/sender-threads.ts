import { availableParallelism } from 'node:os';
import { createThreadPool, type ThreadOptions } from '@packhouse/runtime';
import { falseSender } from '../prove/prove-senders.js';
import type { Proof, SenderCheck } from '../prove/proved-block.js';
import type { FalseSender, SignatureRows } from '../prove/signature-rows.js';

/** Recovers the senders of blocks beside the main thread. */
export interface SenderThreads {
  /** As `Prover.proveSenders`, in a thread. Throws PROOF_FAILED, and as `ThreadPool.run` does. */
  prove(block: number, senders: SenderCheck): Promise<readonly Proof[]>;
  close(): Promise<void>;
}

/** The built program of a thread: tests from sources need it, too, because threads read no TypeScript. */
const PROGRAM = new URL('../../dist/senders/sender-thread.js', import.meta.url);
const IDLE_MS = 30_000;
/** Senders of a block take a fifth of what fetching and proving it takes in one thread. */
const MAX_THREADS = 4;

/** Creates the threads; none is started yet. */
export function createSenderThreads({
  threads = Math.min(MAX_THREADS, availableParallelism()),
  idleMs = IDLE_MS,
  program = PROGRAM,
}: Partial<ThreadOptions> = {}): SenderThreads {
  const pool = createThreadPool<SignatureRows, FalseSender[]>({ threads, idleMs, program });
  return {
    async prove(block, { rows, proofs }) {
      if (rows.length === 0) return proofs;
      const [first] = await pool.run(rows.length, () => ({ order: rows, moved: [] }));
      if (first !== undefined) throw falseSender(block, first);
      return proofs;
    },
    close: pool.close,
  };
}
