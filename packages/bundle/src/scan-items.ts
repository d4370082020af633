import type { Kind } from '@packhouse/chain';
import type { Found } from './filter-items.js';

/** A member of a log, with its value where that has the canonical form. The end of `topics` is matched, too. */
const LOG_MEMBERS = /"(?:address":(?:"(0x[0-9a-f]{40})")?|topics":(?:\[((?:"0x[0-9a-f]{64}",?){0,4})\])?)/g;
/** A member of a trace that names an account, with its value where that has the canonical form. */
const TRACE_MEMBERS = /"(?:from|to|address|refundAddress|author)":(?:"(0x[0-9a-f]{40})"|null)?/g;

/** Characters of `"0x…",` with a topic. */
const TOPIC_STEP = 69;

/**
 * Finds the items of records in canonical text without parsing it, for kinds where that is possible. Returns false if
 * something is not as expected; what was found until then is of the text all the same. Members of these names in parts
 * of a record that nobody looks at are items too, which makes a filter larger and never wrong.
 */
export function scanItems(kind: Kind, text: string, found: Found): boolean {
  if (kind === 'logs') return scanLogs(text, found);
  if (kind === 'traces') return scanTraces(text, found);
  return false;
}

/** In canonical text, the address of a log stands before its topics. */
function scanLogs(text: string, { addresses, topics, firsts }: Found): boolean {
  let address: string | null = null;
  LOG_MEMBERS.lastIndex = 0;
  for (let match = LOG_MEMBERS.exec(text); match !== null; match = LOG_MEMBERS.exec(text)) {
    const [, account, list] = match;
    if (account !== undefined) {
      if (address !== null) return false;
      address = account;
      addresses.add(account);
      continue;
    }
    if (list === undefined || address === null) return false;
    for (let at = 0; at < list.length; at += TOPIC_STEP) {
      const topic = list.slice(at + 1, at + 67);
      topics.add(topic);
      if (at > 0) continue;
      const known = firsts.get(address);
      if (known === undefined) firsts.set(address, new Set([topic]));
      else known.add(topic);
    }
    address = null;
  }
  return address === null;
}

function scanTraces(text: string, { addresses }: Found): boolean {
  TRACE_MEMBERS.lastIndex = 0;
  for (let match = TRACE_MEMBERS.exec(text); match !== null; match = TRACE_MEMBERS.exec(text)) {
    const [member, account] = match;
    if (account !== undefined) addresses.add(account);
    else if (!member.endsWith('null')) return false;
  }
  return true;
}
