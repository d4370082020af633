import { ETHEREUM, GAS_ONLY, like, NO_CHECKS } from './ethereum.js';
import type { RuleSet, TransactionField, TypeRule, Unproved } from './rule-set.js';

const q = (name: string, or?: string): TransactionField => ({ name, form: 'quantity', ...(or && { or }) });
const address = (name: string): TransactionField => ({ name, form: 20 });
const hash = (name: string): TransactionField => ({ name, form: 32 });
const recipient = (name: string): TransactionField => ({ name, form: 'recipient' });
const data = (name: string): TransactionField => ({ name, form: 'data' });
const ACCESS_LIST: TransactionField = { name: 'accessList', form: 'accessList' };

/** Leaves all of a block unproved. */
function everything(because: string): Unproved {
  return { header: because, hashes: because, transactions: because, receipts: because, blooms: because };
}

/** The fields of a signature, in the order of RLP. */
export const SIGNATURE: readonly TransactionField[] = [q('v', 'yParity'), q('r'), q('s')];

/** The fields of type 2 (EIP-1559) without the signature. */
export const FEE_MARKET: readonly TransactionField[] = [
  ...[q('chainId'), q('nonce'), q('maxPriorityFeePerGas'), q('maxFeePerGas'), q('gas')],
  ...[recipient('to'), q('value'), data('input'), ACCESS_LIST],
];

/** Chains of the OP stack: their deposits (type 0x7e) bring their own rules with them, in Ethereum's set too. */
const OPTIMISM = like(ETHEREUM, {
  name: 'optimism',
  chains: [10, 8453, 130, 480, 7_777_777, 34_443, 11_155_420, 84_532, 1_301],
  source: "the OP stack's specification: deposits, Regolith, Canyon, Isthmus",
});

const FEE_CAP = q('maxFeePerGas', 'gasPrice');

/** Source: `core/types/arb_types.go` of Nitro's go-ethereum; field names: its `internal/ethapi`. */
const ARBITRUM_TYPES = new Map<string, TypeRule>([
  ['0x64', { fields: [q('chainId'), hash('requestId'), address('from'), address('to'), q('value')] }],
  [
    '0x65',
    {
      fields: [
        ...[q('chainId'), address('from'), q('nonce'), FEE_CAP, q('gas')],
        ...[recipient('to'), q('value'), data('input')],
      ],
    },
  ],
  [
    '0x66',
    {
      fields: [
        ...[q('chainId'), hash('requestId'), address('from'), FEE_CAP, q('gas')],
        ...[recipient('to'), q('value'), data('input')],
      ],
    },
  ],
  [
    '0x68',
    {
      fields: [
        ...[q('chainId'), q('nonce'), address('from'), FEE_CAP, q('gas'), recipient('to'), q('value')],
        ...[data('input'), hash('ticketId'), address('refundTo'), q('maxRefund'), q('submissionFeeRefund')],
      ],
    },
  ],
  [
    '0x69',
    {
      fields: [
        ...[
          q('chainId'),
          hash('requestId'),
          address('from'),
          q('l1BaseFee'),
          q('depositValue'),
          FEE_CAP,
          q('gas'),
        ],
        ...[recipient('retryTo'), q('retryValue'), address('beneficiary'), q('maxSubmissionFee')],
        ...[address('refundTo'), data('retryData')],
      ],
    },
  ],
  ['0x6a', { fields: [q('chainId'), data('input')] }],
  [
    '0x78',
    { unknown: 'the hash of a transaction of type 0x78 was made before Nitro and follows from no field' },
  ],
]);

const CLASSIC = 'blocks before Nitro were made by another program, whose hashes and roots are not documented';

/** Arbitrum. The first block of Nitro is 22207817 on Arbitrum One; the others began with Nitro. */
const ARBITRUM = like(ETHEREUM, {
  name: 'arbitrum',
  chains: [42_161, 42_170, 421_614],
  source: "Nitro's go-ethereum: core/types/arb_types.go, internal/ethapi",
  types: ARBITRUM_TYPES,
  checks: GAS_ONLY,
});

const ARBITRUM_ONE = like(ARBITRUM, {
  name: 'arbitrum-one',
  chains: [42_161],
  source: ARBITRUM.source,
  eras: [
    {
      label: 'before Nitro',
      applies: ({ number }) => number < 22_207_817,
      rules: {
        unproved: everything(CLASSIC),
        checks: NO_CHECKS,
      },
    },
  ],
});

/** Nodes give the sender under both names. */
const SENDER: TransactionField = { name: 'from', form: 20, also: 'sender' };

/** Scroll: messages from L1 have type 0x7e, and are no deposits of the OP stack. */
const SCROLL = like(ETHEREUM, {
  name: 'scroll',
  chains: [534_352, 534_351],
  source: 'scroll-tech/go-ethereum: core/types/l1_message_tx.go',
  types: new Map<string, TypeRule>([
    ['0x7e', { fields: [q('queueIndex'), q('gas'), address('to'), q('value'), data('input'), SENDER] }],
  ]),
  checks: GAS_ONLY,
});

const ERA_VM = 'a block of zkSync Era commits to its batch, not by an RLP header, and has no roots';

const ZKSYNC = like(ETHEREUM, {
  name: 'zksync',
  chains: [324, 300],
  source: 'matter-labs/zksync-era: the genesis block as its RPC gives it has zeros for every root',
  types: new Map<string, TypeRule>(['0x71', '0xfe', '0xff'].map((type) => [type, { unknown: ERA_VM }])),
  unproved: everything(ERA_VM),
  checks: NO_CHECKS,
});

const CELO_L1 =
  'the header of Celo before it became a rollup leaves out parts of extraData, which no data here shows';

/** Celo: since block 31056500 an OP stack; CIP-64 (0x7b) and CIP-42 (0x7c) pay fees in other currencies. */
const CELO = like(OPTIMISM, {
  name: 'celo',
  chains: [42_220],
  source: 'celo-org/op-geth: core/types/celo_dynamic_fee_tx_v2.go, celo_receipt.go',
  types: new Map<string, TypeRule | 'deposit'>([
    ...OPTIMISM.types,
    [
      '0x7b',
      {
        fields: [...FEE_MARKET, { name: 'feeCurrency', form: 'recipient' }, ...SIGNATURE],
        baseFeeInReceipt: true,
      },
    ],
    ['0x7c', { unknown: 'the fields of type 0x7c (CIP-42) were retired before Celo became a rollup' }],
  ]),
  checks: GAS_ONLY,
  eras: [
    {
      label: 'before the rollup',
      applies: ({ number }) => number < 31_056_500,
      rules: {
        unproved: everything(CELO_L1),
        checks: NO_CHECKS,
      },
    },
  ],
});

/** The rule sets of rollups. */
export const ROLLUPS: readonly RuleSet[] = [
  OPTIMISM,
  ARBITRUM_ONE,
  { ...ARBITRUM, chains: [42_170, 421_614] },
  SCROLL,
  ZKSYNC,
  CELO,
];
