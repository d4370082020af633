import { getNeededHead, isEligible, type Pool } from './candidates.js';
import type { ForwardRequest, ResultBody } from './send/forward-request.js';
import type { ForwardUpstream } from './send/forward-upstream.js';
import { FAR_BLOCKS } from './tip/check-upstream.js';

/**
 * What a result is worth. `unconfirmed`: returned only if others agree; `stale`: its upstream lacks a block that the call
 * depends on; `regressed`: stale, and its upstream has lost the head that it was known to have; `too-high`: it is of a block
 * far above all others; `lacking`: its block has more.
 */
export type Weight = 'accepted' | 'unconfirmed' | 'stale' | 'regressed' | 'too-high' | 'lacking';

/** Weighs a result of an upstream against what all are known to have; notes a head that went back. */
export function weighResult(
  { single }: Pool,
  request: ForwardRequest,
  result: ResultBody,
  node: ForwardUpstream,
  tip: number | null,
): Weight {
  const { crossCheck } = request;
  const mayLack =
    crossCheck === 'existence'
      ? isNull(result) || isEmptyList(result)
      : crossCheck === 'logs' && isNull(result);
  if (single) return mayLack ? 'unconfirmed' : 'accepted';
  const newest = readNewest(request, result);
  if (newest !== null && tip !== null) {
    if (newest > tip + FAR_BLOCKS || (node.isFarAhead && newest > tip)) return 'too-high';
    if (newest < tip && crossCheck !== 'head') {
      node.sawHead(newest, performance.now());
      return 'regressed';
    }
  }
  const hasBlock = (): boolean => reaches(node, request, tip);
  // For a block by its hash, a node that is behind may return no logs rather than an error.
  if (crossCheck === 'logs' && request.block === undefined && isEmptyList(result)) {
    return hasBlock() ? 'accepted' : 'stale';
  }
  if (!mayLack) return 'accepted';
  return hasBlock() ? 'unconfirmed' : 'stale';
}

/** Whether an upstream is known to have the block of a call; the newest one if the call names none. */
export function reaches(
  node: ForwardUpstream,
  { block = 'tip' }: ForwardRequest,
  tip: number | null,
): boolean {
  return isEligible(node, getNeededHead(block, tip));
}

/** The number of the newest block in a result; null if it has none. */
export function readNewest({ crossCheck, resultBlock }: ForwardRequest, body: ResultBody): number | null {
  if (resultBlock !== undefined) return resultBlock(body.pieces?.[0] ?? body.bytes);
  if (crossCheck !== 'head' || body.rest !== null || body.pieces !== undefined) return null;
  const { bytes } = body;
  if (bytes.length > 20) return null;
  const digits = /^"(0x[0-9a-f]{1,13})"$/i.exec(bytes.toString('latin1').trim())?.[1];
  return digits === undefined ? null : Number(digits);
}

function isNull(body: ResultBody): boolean {
  const bytes = getSmall(body);
  return bytes?.length === 4 && bytes.toString('latin1') === 'null';
}

export function isEmptyList(body: ResultBody): boolean {
  const bytes = getSmall(body);
  return bytes !== null && bytes.length < 8 && /^\[\s*\]$/.test(bytes.toString('latin1').trim());
}

/** All of a result if that is not large: a large one is not joined to be looked at. */
function getSmall(body: ResultBody): Buffer | null {
  return body.rest === null && body.pieces === undefined ? body.bytes : null;
}
