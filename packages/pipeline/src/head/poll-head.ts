import type { BlockAnchor, ChainHead } from '@packhouse/node-rpc';
import type { PackhouseError } from '@packhouse/runtime';
import {
  alarmAnchor,
  alarmError,
  FINALITY_ALARM,
  isAccepted,
  isBelowFinality,
  openFinalityAlarm,
  raiseFinalityAlarm,
} from './finality-alarm.js';
import type { ChainParts } from './reorganise.js';

type PolledHead =
  | {
      halted: null;
      head: ChainHead;
      anchor: BlockAnchor | null;
      /** The highest block that stays, if an operator accepted another chain; else null. */
      keptTo: number | null;
    }
  /** The chain differs below finality: the alarm is open. */
  | { halted: PackhouseError };

/** How far below the head staged blocks are searched, if the upstreams are behind what is final. */
const LOOK_DOWN_BLOCKS = 1_024;

/**
 * The head of the chain that contains what is final here.
 *
 * ```
 *                    alarm open? ──yes──▶ chain has the block again? ─no─▶ halted
 *                        │no                        │yes: cleared
 *                        ▼                          ▼
 *  head with anchor ── below finality ── operator cleared this one? ─no─▶ alarm, halted
 *        │                                          │yes: the chain's block is the anchor now
 *        ▼                                          ▼
 *      the head                              the head, accepted
 * ```
 */
export async function pollHead(
  parts: ChainParts & { asksFinalized?: (() => boolean) | undefined },
  signal: AbortSignal,
): Promise<PolledHead> {
  const { context, database, network, source } = parts;
  const alarm = await openFinalityAlarm(parts);
  if (alarm !== null) {
    if (!(await agreesAgain(parts, alarmAnchor(alarm), signal))) return { halted: alarmError(alarm) };
    await database.alarms.clear(FINALITY_ALARM, 'itself');
    context.logger.warn(
      { network, alarm: FINALITY_ALARM },
      'the chain has again what is final; the alarm is cleared',
    );
  }
  const anchor = (await database.head.anchor()) ?? (await publishedAnchor(parts, null));
  try {
    const asksFinalized = parts.asksFinalized?.() ?? true;
    const head = await source.head(signal, anchor, { asksFinalized });
    if (anchor !== null && head.number < anchor.number) {
      // Only behind, or another chain from its beginning: a block below its head decides.
      await source.head(signal, await lowerAnchor(parts, head.number));
    }
    return { halted: null, head, anchor, keptTo: null };
  } catch (error) {
    if (!isBelowFinality(error)) throw error;
    if (!(await isAccepted(parts, error))) {
      await raiseFinalityAlarm(parts, error);
      return { halted: error };
    }
    const { number, got } = error.data;
    const accepted = { number: Number(number), hash: String(got) };
    const head = await source.head(signal, accepted);
    const kept = await publishedAnchor(parts, null);
    return { halted: null, head, anchor: accepted, keptTo: kept?.number ?? -1 };
  }
}

/** Whether the upstreams have reached this block and have it. */
async function agreesAgain(
  { source }: ChainParts,
  anchor: BlockAnchor | null,
  signal: AbortSignal,
): Promise<boolean> {
  if (anchor === null) return true;
  try {
    return (await source.head(signal, anchor)).number >= anchor.number;
  } catch (error) {
    if (isBelowFinality(error)) return false;
    throw error;
  }
}

/** The highest published or staged block at or below `number` of which the hash is known. */
async function lowerAnchor(parts: ChainParts, number: number): Promise<BlockAnchor | null> {
  const { database } = parts;
  const finalized = (await database.head.get())?.finalized ?? -1;
  const range = {
    firstBlock: Math.max(0, number - LOOK_DOWN_BLOCKS),
    lastBlock: Math.min(number, finalized),
  };
  const staged =
    range.lastBlock < range.firstBlock ? undefined : (await database.staging.blocks(range)).at(-1);
  const published = await publishedAnchor(parts, number);
  if (staged === undefined || (published !== null && published.number >= staged.number)) return published;
  return { number: staged.number, hash: staged.hash };
}

/** The highest end of a bundle at or below `limit` (null: of all) near the end of what is published. */
async function publishedAnchor({ database }: ChainParts, limit: number | null): Promise<BlockAnchor | null> {
  let highest: BlockAnchor | null = null;
  const { kinds } = await database.backfills.runs();
  for (const kind of kinds) {
    const within = limit === null ? undefined : { firstBlock: 0, lastBlock: limit };
    const { published } = await database.coverage(kind, within);
    const end = published.at(-1)?.lastBlock;
    if (end === undefined) continue;
    const row = await database.bundles.covering(kind, limit === null ? end : Math.min(end, limit));
    if (row === null) continue;
    const known =
      limit === null || row.lastBlock <= limit
        ? { number: row.lastBlock, hash: row.lastHash }
        : { number: row.firstBlock, hash: row.firstHash };
    if (highest === null || known.number > highest.number) highest = known;
  }
  return highest;
}
