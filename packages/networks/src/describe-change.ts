import type { Network, Upstream } from './network.js';

/** One difference between two states of the networks file, without values: they may be secrets. */
export interface NetworksChange {
  network: string;
  /** Absent: the network itself. */
  upstream?: string;
  change: 'added' | 'removed' | 'changed';
  /** Names of the fields that differ, for `changed`: `rpc.timeoutMs`. */
  fields?: string[];
}

/** The differences between two states of the networks file; order in the file does not count. */
export function describeChange(before: readonly Network[], after: readonly Network[]): NetworksChange[] {
  const changes: NetworksChange[] = [];
  for (const { id } of before) {
    if (!after.some((other) => other.id === id)) changes.push({ network: id, change: 'removed' });
  }
  for (const network of after) {
    const known = before.find((other) => other.id === network.id);
    if (known === undefined) changes.push({ network: network.id, change: 'added' });
    else changes.push(...toChanges(known, network));
  }
  return changes;
}

function toChanges(before: Network, after: Network): NetworksChange[] {
  const { upstreams: oldUpstreams, ...old } = before;
  const { upstreams: newUpstreams, ...now } = after;
  const network = after.id;
  const changes: NetworksChange[] = [];
  const fields = differing(old, now);
  if (fields.length > 0) changes.push({ network, change: 'changed', fields });
  const named = (list: readonly Upstream[], name: string): Upstream | undefined =>
    list.find((upstream) => upstream.name === name);
  for (const { name } of oldUpstreams) {
    if (named(newUpstreams, name) === undefined) changes.push({ network, upstream: name, change: 'removed' });
  }
  for (const upstream of newUpstreams) {
    const { name } = upstream;
    const known = named(oldUpstreams, name);
    if (known === undefined) changes.push({ network, upstream: name, change: 'added' });
    else {
      const differ = differing(known, upstream, 0);
      if (differ.length > 0) changes.push({ network, upstream: name, change: 'changed', fields: differ });
    }
  }
  return changes;
}

/** Names of the fields that differ, at most `depth` objects deep. */
function differing(before: object, after: object, depth = 1): string[] {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].flatMap((key) => {
    if (JSON.stringify(old[key]) === JSON.stringify(now[key])) return [];
    const [a, b] = [old[key], now[key]];
    if (depth === 0 || !isRecord(a) || !isRecord(b)) return [key];
    return differing(a, b, depth - 1).map((inner) => `${key}.${inner}`);
  });
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `ethereum: upstream provider changed (url)`; never a value. */
export function changeText({ network, upstream, change, fields }: NetworksChange): string {
  const subject = upstream === undefined ? network : `${network}: upstream ${upstream}`;
  return fields === undefined ? `${subject} ${change}` : `${subject} ${change} (${fields.join(', ')})`;
}
