import type { BlockRange, Kind } from '@packhouse/chain';
import { PackhouseError } from '@packhouse/runtime';
import type { Gateway } from '../fetch/http.js';

/** Blocks that are not published, and why. */
export interface Hole {
  from: number;
  to: number;
  /** One of the reasons of `docs/downloads.md`. */
  reason: string;
  /** What has to happen, as a clause about the hole; empty: unknown. */
  needs: string;
}

/** Holes asked for at once. */
const LIMIT = 100;
const MAX_BYTES = 8_388_608;

/**
 * The first holes of a range, with their reasons. Throws PLAN_LIMIT (`data.maxBlock`) if the plan of the key ends
 * within the range, and as `Http.text`.
 */
export async function holesWithReasons(
  { address, http }: Gateway,
  kind: Kind,
  { firstBlock, lastBlock }: BlockRange,
  signal?: AbortSignal,
): Promise<Hole[]> {
  const url = address.api(`coverage?kind=${kind}&from=${firstBlock}&to=${lastBlock}&limit=${LIMIT}`);
  const text = await http.text(url, MAX_BYTES, { signal });
  try {
    const page = JSON.parse(text) as {
      kinds: { kind: string; holes: { range: string; reason: string; needs?: string }[] }[];
    };
    const holes = page.kinds.find((each) => each.kind === kind)?.holes ?? [];
    return holes.map(({ range, reason, needs }) => {
      const [from, to] = range.split('-').map(Number);
      if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) throw new RangeError(range);
      return {
        from: from as number,
        to: to as number,
        reason: String(reason),
        needs: String(needs ?? ''),
      };
    });
  } catch (cause) {
    throw new PackhouseError({
      code: 'DOWNLOAD_FAILED',
      message: `The gateway's answer about what is published in ${firstBlock}-${lastBlock} cannot be read.`,
      hint: 'Check the address.',
      cause,
      retryable: false,
    });
  }
}
