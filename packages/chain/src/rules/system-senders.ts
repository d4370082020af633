/** When the blocks of a chain of Polygon have state syncs. */
interface StateSyncs {
  /** Blocks of a sprint; only its first block has a state sync. */
  sprint: number;
  /** The block from which a state sync has the type 0x7f, and is in the roots (PIP-74, Madhugiri). */
  typedFrom: number;
}

/** Polygon's sprints had 64 blocks until Delhi, those of Amoy always 16 (bor: builder/files/genesis-*.json). */
const DELHI = 38_189_056;
const TYPED_FROM: ReadonlyMap<number | undefined, number> = new Map([
  [137, 80_084_800],
  [80_002, 28_899_616],
]);

/** Of a chain that follows the rules under another id, only what all of them have in common is known. */
export function getStateSyncs(chainId: number | undefined, block: number): StateSyncs {
  return {
    sprint: chainId === 137 && block < DELHI ? 64 : 16,
    typedFrom: TYPED_FROM.get(chainId) ?? Number.POSITIVE_INFINITY,
  };
}

/** The system address of HYPE on HyperEVM. */
export const HYPE_SYSTEM = `0x${'2'.repeat(40)}`;
const TOKEN_SYSTEM = /^0x20{23}[0-9a-f]{16}$/;

/**
 * Whether HyperCore sends from this address: that of HYPE, or 0x20, zeros and a token's index (Hyperliquid's documents,
 * HyperCore <> HyperEVM transfers; spot_meta of nanoreth has an index of 8 bytes).
 */
export function isSystemAddress(address: string): boolean {
  return address === HYPE_SYSTEM || TOKEN_SYSTEM.test(address);
}

/** One token of the test network is moved by its holders (nanoreth: src/node/types/patch.rs). */
export const TESTNET_HOLDERS = {
  chainId: 998,
  fromBlock: 55_231_857,
  token: '0x2b3370ee501b4a559b57d449569354196457d8ab',
} as const;
