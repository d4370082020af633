import { TRANSFERS } from '../transfers/transfer.js';

/** What each column of transfers has. */
const MEANINGS: Readonly<Record<string, string>> = {
  block_number: '',
  block_timestamp: 'of the proved header',
  transaction_index: 'null for withdrawals',
  transaction_hash: 'null for withdrawals',
  source: '`trace`, `log` or `withdrawal`: what the row was read from',
  log_index: 'of the log',
  batch_index: 'place in an ERC-1155 TransferBatch, from 0 on',
  trace_address: 'of the trace, as in `traces`',
  withdrawal_index: 'of the withdrawal',
  standard: '`native`, `erc20`, `erc721` or `erc1155`',
  token_address: 'the contract; null for native',
  from_address: 'null for withdrawals',
  to_address: '',
  value: 'in the smallest unit; 1 for ERC-721; null beyond 38 digits',
  value_double: 'rounded',
  value_text: 'exact',
  token_id: 'digits; of ERC-721 and ERC-1155',
  chain_id: '',
};

const RULES = `
Only in the [lake](lake.md), for networks that keep logs. A row is one transfer. Rows are in the order of blocks and transactions; within a transaction those
of traces come first, then those of logs; withdrawals end their block.

| rows | read from | rule |
|---|---|---|
| native | \`call\`, \`create\` and self-destructs in traces | more than 0, to another account, and neither the call nor one around it failed |
| native, from Amsterdam on | logs of \`0xfffffffffffffffffffffffffffffffffffffffe\` (EIP-7708) | a block that has such logs has no native row of traces: none is there twice |
| native | \`withdrawals\` of blocks | Gwei are made Wei; none in a block whose node did not send the list (\`blocks.withdrawals\` is null) |
| ERC-20 | \`Transfer\` | exactly 3 topics and one word of data |
| ERC-721 | \`Transfer\` | exactly 4 topics and no data |
| ERC-1155 | \`TransferSingle\` | exactly 4 topics and two words of data |
| ERC-1155 | \`TransferBatch\` | exactly 4 topics and two arrays of one length; a row for each id |

- Logs of another form are left out, such as those of old tokens whose accounts are no topics, and topics that are no addresses. Token transfers of 0 are rows.
- Not transfers: \`delegatecall\`, \`callcode\`, \`staticcall\`, rewards of miners, fees, what the genesis or a fork gave, burning by a self-destruct to itself (and
  \`Selfdestruct\` or \`Burn\` logs), wrapping (\`Deposit\`, \`Withdrawal\`).
- Blocks without traces have no native transfers before Amsterdam. The property \`packhouse.native\` of the table names these blocks.
- A contract can log what it wants: a row of a token says what its contract said.

`;

/** The part of docs/tables.md about transfers. */
export function transfersPage(): string {
  const lines = TRANSFERS.columns.map(({ name, type, required }) => {
    const meaning = MEANINGS[name] === '' ? '' : `: ${MEANINGS[name]}`;
    return `- \`${name}\` ${type}${required ? '' : '?'}${meaning}`;
  });
  return `\n## transfers\n\nVersion \`${TRANSFERS.name}\`.\n${RULES}${lines.join('\n')}\n`;
}
