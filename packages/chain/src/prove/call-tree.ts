import type { TraceRecord } from '../record/trace.js';

/** A node whose children have not all been seen. */
interface OpenNode {
  address: readonly number[];
  subtraces: number;
  seen: number;
}

/** Follows one transaction's traces in preorder, by the path from the root to the last of them. */
export interface CallTree {
  /** Begins a new tree. */
  begin(root: TraceRecord): void;
  /** Takes the next trace; returns the expected address if the trace has another, otherwise undefined. */
  push(trace: TraceRecord): string | undefined;
  /** The deepest node that lacks children, or undefined if the tree is complete. */
  open(): OpenNode | undefined;
  /** The trace at `depth` on the path. */
  at(depth: number): TraceRecord | undefined;
}

/** Creates a tree that holds the path only: memory grows with the depth of calls, not with their number. */
export function createCallTree(): CallTree {
  /** path[d] is the index of the node of depth d + 1 in its parent. */
  const path: number[] = [];
  /** By depth: children announced, children seen, the trace. */
  const subtraces: number[] = [];
  const seen: number[] = [];
  const traces: TraceRecord[] = [];
  let depth = -1;

  const enter = (at: number, trace: TraceRecord) => {
    depth = at;
    subtraces[at] = trace.subtraces;
    seen[at] = 0;
    traces[at] = trace;
  };

  const deepestOpen = (): number => {
    let at = depth;
    while (at >= 0 && seen[at] === subtraces[at]) at--;
    return at;
  };

  return {
    begin: (root) => enter(0, root),
    push(trace) {
      const { traceAddress } = trace;
      const parent = deepestOpen();
      const level = traceAddress.length;
      let fits = parent === level - 1 && traceAddress[parent] === seen[parent];
      for (let at = 0; fits && at < parent; at++) fits = traceAddress[at] === path[at];
      if (!fits) {
        return parent < 0
          ? 'the next transaction'
          : `[${[...path.slice(0, parent), seen[parent]].join(',')}]`;
      }
      path[parent] = seen[parent]!;
      seen[parent]!++;
      enter(level, trace);
      return undefined;
    },
    open() {
      const at = deepestOpen();
      return at < 0 ? undefined : { address: path.slice(0, at), subtraces: subtraces[at]!, seen: seen[at]! };
    },
    at: (at) => (at <= depth ? traces[at] : undefined),
  };
}
