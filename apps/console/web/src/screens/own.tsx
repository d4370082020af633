import { useState } from 'preact/hooks';
import { count } from '../lib/format.js';
import { useRead } from '../lib/use-read.js';
import { Copy } from '../parts/copy.js';
import { Empty, Shown } from '../parts/states.js';
import { KeyFacts, type KeyRow } from './one-key.js';
import { UsageCharts } from './usage-charts.js';

interface Limits extends KeyRow {
  limits: {
    unitsPerSecond: number;
    unitsPerDay: number | null;
    unitsPerMonth: number | null;
    callsPerSecond: Record<string, number>;
    maxBlock: number | null;
  };
  used: { unitsInDay: number; unitsInMonth: number };
}

interface OwnNetwork {
  id: string;
  chainId: number | null;
  family: string | null;
  /** Null: this console does not know where the gateway is. */
  address: string | null;
  jsonRpc: string | null;
}

/** What the holder of a key sees: its limits, how to use it, and what it used. */
export function Own() {
  const limits = useRead<Limits>('own/limits');
  const networks = useRead<OwnNetwork[]>('own/networks', {}, 60_000);
  return (
    <>
      <h1>Your key</h1>
      <Shown reading={limits}>
        {(row) => (
          <>
            <KeyFacts row={row} />
            <h2>Limits</h2>
            <Used label="Units today (UTC)" used={row.used.unitsInDay} of={row.limits.unitsPerDay} />
            <Used label="Units this month (UTC)" used={row.used.unitsInMonth} of={row.limits.unitsPerMonth} />
            <p>
              {count(row.limits.unitsPerSecond)} units a second
              {Object.entries(row.limits.callsPerSecond).map(([method, most]) => `, ${most} ${method}`)}
              {row.limits.maxBlock !== null && `, files up to block ${count(row.limits.maxBlock)}`}. A call
              costs one unit or more.
            </p>
          </>
        )}
      </Shown>
      <Shown reading={networks}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>There is no network that this key opens yet. Ask an operator of this installation.</Empty>
          ) : (
            <HowTo networks={rows} />
          )
        }
      </Shown>
      <UsageCharts name="own/usage" />
    </>
  );
}

function Used({ label, used, of }: { label: string; used: number; of: number | null }) {
  return (
    <p>
      {label}: {count(used)} of {of === null ? 'no limit' : count(of)}{' '}
      {of !== null && <progress value={Math.min(used, of)} max={of} aria-label={label} />}
    </p>
  );
}

/** Lines to paste for one network. */
function HowTo({ networks }: { networks: readonly OwnNetwork[] }) {
  const [id, choose] = useState(networks[0]?.id ?? '');
  const [gateway, setGateway] = useState('');
  const network = networks.find((each) => each.id === id) ?? (networks[0] as OwnNetwork);
  const address = network.address ?? `${(gateway || 'https://GATEWAY').replace(/\/+$/, '')}/${network.id}`;
  const jsonRpc = network.jsonRpc ?? `${address}/v1/`;
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
  const isEvm = network.family === null || network.family === 'evm';
  return (
    <>
      <h2>Use it</h2>
      <label>
        Network{' '}
        <select value={network.id} onChange={(event) => choose(event.currentTarget.value)}>
          {networks.map((each) => (
            <option key={each.id}>{each.id}</option>
          ))}
        </select>
      </label>
      {network.address === null && (
        <label>
          Address of the gateway, which this console does not know{' '}
          <input
            type="url"
            value={gateway}
            placeholder="https://data.example.com"
            onInput={(event) => setGateway(event.currentTarget.value)}
          />
        </label>
      )}
      <p>Set the key once; it is not shown again here:</p>
      <Copy label="the line that sets the key" text="export PACKHOUSE_API_KEY=ph_…" />
      {isEvm && (
        <>
          <p>JSON-RPC with curl:</p>
          <Copy
            label="the line for curl"
            text={`curl -s ${jsonRpc}$PACKHOUSE_API_KEY -H 'Content-Type: application/json' -d '${call}'`}
          />
          <p>Files of a range, checked against the signed manifest:</p>
          <Copy
            label="the line for pull"
            text={`packhouse pull ${address} --kind logs --from 17M --to +1000 --out logs`}
          />
          <p>With viem:</p>
          <Copy label="the lines for viem" text={viemLines(jsonRpc)} />
        </>
      )}
      {!isEvm && <Copy label="the address of its JSON-RPC" text={`${jsonRpc}$PACKHOUSE_API_KEY`} />}
    </>
  );
}

function viemLines(jsonRpc: string): string {
  return [
    "import { createPublicClient, http } from 'viem';",
    '',
    'const client = createPublicClient({',
    `  transport: http(\`${jsonRpc}\${process.env.PACKHOUSE_API_KEY}\`),`,
    '});',
    'console.log(await client.getBlockNumber());',
  ].join('\n');
}
