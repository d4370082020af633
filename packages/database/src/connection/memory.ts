import type { Connections } from './connections.js';

/**
 * What is remembered of the database. Another one answers after a failover or a restore, and may lack it: then it is made
 * anew. Take it before the read that fills it, so that a late answer of the database before is forgotten as well.
 */
export function createMemory<T>(connections: Pick<Connections, 'incarnation'>, make: () => T): () => T {
  let kept = { of: connections.incarnation(), value: make() };
  return () => {
    const now = connections.incarnation();
    if (kept.of !== now) kept = { of: now, value: make() };
    return kept.value;
  };
}
