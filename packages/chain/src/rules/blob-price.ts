/**
 * How slowly the price of blobs follows their use (EIP-4844; EIP-7892 for the forks that only change it), each with the
 * Unix time since when it holds: `params/config.go` of go-ethereum. The last line of a chain
 * computes nothing: a later fork, which is not here yet, may have replaced it.
 */
const UPDATE_FRACTIONS: ReadonlyMap<
  number | undefined,
  readonly (readonly [since: number, fraction: bigint])[]
> = new Map([
  [
    1,
    [
      [1_710_338_135, 3_338_477n],
      [1_746_612_311, 5_007_716n],
      [1_765_290_071, 8_346_193n],
      [1_767_747_671, 11_684_671n],
    ],
  ],
  [
    11_155_111,
    [
      [1_706_655_072, 3_338_477n],
      [1_741_159_776, 5_007_716n],
      [1_761_017_184, 8_346_193n],
      [1_761_607_008, 11_684_671n],
    ],
  ],
  [
    17_000,
    [
      [1_707_305_664, 3_338_477n],
      [1_740_434_112, 5_007_716n],
      [1_759_800_000, 8_346_193n],
      [1_760_389_824, 11_684_671n],
    ],
  ],
  [
    560_048,
    [
      [0, 3_338_477n],
      [1_742_999_832, 5_007_716n],
      [1_762_365_720, 8_346_193n],
      [1_762_955_544, 11_684_671n],
    ],
  ],
]);

/** No chain comes near it; the price of more would take long to compute. */
const MAX_EXCESS = 1n << 32n;

/**
 * The price of blobs in a block as QUANTITY, from its proved header; undefined if the next fork of its chain is not known
 * here, so that the price may be another.
 */
export function getBlobPrice(
  chainId: number | undefined,
  { excessBlobGas, timestamp }: { excessBlobGas?: string | null | undefined; timestamp: string },
): string | undefined {
  if (excessBlobGas == null) return undefined;
  const forks = UPDATE_FRACTIONS.get(chainId) ?? [];
  const at = forks.findLastIndex(([since]) => since <= Number(timestamp));
  const excess = BigInt(excessBlobGas);
  if (at === -1 || at === forks.length - 1 || excess > MAX_EXCESS) return undefined;
  return `0x${fakeExponential(excess, forks[at]![1]).toString(16)}`;
}

/** e to the power of `numerator / denominator`, rounded down as EIP-4844 says. */
function fakeExponential(numerator: bigint, denominator: bigint): bigint {
  let sum = 0n;
  let term = denominator;
  for (let i = 1n; term > 0n; i++) {
    sum += term;
    term = (term * numerator) / (denominator * i);
  }
  return sum / denominator;
}
