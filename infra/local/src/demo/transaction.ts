/** A transaction without type, nonce and fees. */
export interface Action {
  /** Absent: a contract creation. */
  to?: string;
  /** Wei. */
  value?: bigint;
  /** With `0x`. */
  input?: string;
  /** Gas limit. */
  gas: number;
}

/** Transaction types of the demo chain (EIP-2718 numbers). */
export type TransactionType = 0 | 1 | 2 | 3 | 4;

/** A transaction as Anvil's eth_sendTransaction takes it from an unlocked account. */
type TransactionRequest = { from: string; nonce: string } & Record<string, unknown>;

/** An action with its type and sender. */
export interface TypedAction extends Action {
  type: TransactionType;
  from: string;
}

const BLOB_COMMITMENT_BYTES = 48;
const GWEI = 1_000_000_000n;
/** Well above any base fee of the demo chain, so that no transaction has to wait. */
const FIRST_FEE = 20n * GWEI;
/** How much less each next transaction of a block offers. */
const FEE_STEP = GWEI / 100n;

/**
 * The request for the transaction at `position` of its block.
 *
 * Fees fall with the position, because Anvil orders a block by them: so the order does not depend on when requests
 * arrive. The signatures of authorizations are invented: a valid `r` and `s` recover to some account, which is then
 * delegated; about half of them are not valid, and the EVM skips them (EIP-7702).
 */
export function transactionRequest(options: {
  action: TypedAction;
  nonce: number;
  position: number;
  chainId: number;
  /** Hex of `bytes` bytes, from the block's seeded source. */
  hex: (bytes: number) => string;
  /** Contract that authorizations delegate to. */
  delegate: string;
}): TransactionRequest {
  const { action, position, hex } = options;
  const fee = FIRST_FEE - BigInt(position) * FEE_STEP;
  const tip = GWEI + BigInt(position % 7) * (GWEI / 10n);
  const request: TransactionRequest = {
    from: action.from,
    nonce: quantity(options.nonce),
    type: quantity(action.type),
    chainId: quantity(options.chainId),
    gas: quantity(action.gas),
    value: quantity(action.value ?? 0n),
    input: action.input ?? '0x',
  };
  if (action.to !== undefined) request.to = action.to;
  if (action.type <= 1) request.gasPrice = quantity(fee);
  else {
    request.maxFeePerGas = quantity(fee);
    request.maxPriorityFeePerGas = quantity(tip);
  }
  if (action.type === 1 && action.to !== undefined) {
    request.accessList = [{ address: action.to, storageKeys: [`0x${hex(32)}`, `0x${hex(32)}`] }];
  }
  if (action.type === 3) {
    request.maxFeePerBlobGas = quantity(fee);
    // Anvil computes the versioned hashes from the commitments; there are no blobs behind them.
    request.blobVersionedHashes = [];
    request.blobs = [];
    request.proofs = [];
    const blobs = 1 + (position % 2);
    request.commitments = Array.from({ length: blobs }, () => `0x${hex(BLOB_COMMITMENT_BYTES)}`);
  }
  if (action.type === 4) {
    request.authorizationList = [
      {
        chainId: quantity(options.chainId),
        address: options.delegate,
        nonce: '0x0',
        yParity: quantity(position % 2),
        // Below 2^252 without leading zeros: within the field, and a low s (EIP-2).
        r: `0x5${hex(32).slice(1)}`,
        s: `0x5${hex(32).slice(1)}`,
      },
    ];
  }
  return request;
}

/** A number as JSON-RPC writes it. */
export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
