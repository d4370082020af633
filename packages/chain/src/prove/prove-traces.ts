import { recordInvalid } from '../failures.js';
import type { TraceProver } from './trace-prover.js';

/** Proves a block's traces as one array; gives its canonical JSON. */
export function proveTraces(prover: TraceProver, block: number, traces: unknown): string {
  if (!Array.isArray(traces))
    throw recordInvalid({ block, record: 'block' }, 'the traces', 'an array', traces);
  const texts: string[] = [];
  for (let at = 0; at < traces.length; at++) texts.push(prover.push(traces[at]));
  prover.finish();
  return `[${texts.join(',')}]`;
}
