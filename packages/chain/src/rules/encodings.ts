import { fields, type TransactionField } from './rule-set.js';

/** A field of one of Ethereum's transactions, or of a deposit; `flag` is a number that says true or false. */
export interface EncodedField {
  name: string;
  form: TransactionField['form'] | 'hashes' | 'authorizations' | 'flag';
}

/** The fields of a signature, in the order of RLP. */
export const SIGNATURE = fields<TransactionField>('v/yParity:quantity r:quantity s:quantity');

/** The fields of type 2 (EIP-1559) without the signature. */
export const FEE_MARKET = fields<TransactionField>(
  `chainId:quantity nonce:quantity maxPriorityFeePerGas:quantity maxFeePerGas:quantity gas:quantity to:recipient
   value:quantity input:data accessList:accessList`,
);

const LEGACY = 'nonce:quantity gasPrice:quantity gas:quantity to:recipient value:quantity input:data';

/**
 * The fields of each type in the order of RLP, without the signature. Source: Yellow Paper for type 0, EIP-2930, EIP-1559,
 * EIP-4844, EIP-7702 for 1 to 4, the OP stack's specification of deposits for 0x7e.
 */
export const ENCODINGS: ReadonlyMap<number, readonly EncodedField[]> = new Map<
  number,
  readonly EncodedField[]
>([
  [0, fields(LEGACY)],
  [1, fields(`chainId:quantity ${LEGACY} accessList:accessList`)],
  [2, FEE_MARKET],
  [3, [...FEE_MARKET, ...fields<EncodedField>('maxFeePerBlobGas:quantity blobVersionedHashes:hashes')]],
  [4, [...FEE_MARKET, ...fields<EncodedField>('authorizationList:authorizations')]],
  [
    0x7e,
    fields(
      `sourceHash:32 from:20 to:recipient mint:quantity value:quantity gas:quantity isSystemTx:flag input:data`,
    ),
  ],
]);
