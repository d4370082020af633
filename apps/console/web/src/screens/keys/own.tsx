import { useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { formatCount } from '../../lib/format.js';
import { Copy } from '../../parts/copy.js';
import { Facts, Usage } from '../../parts/facts.js';
import { Field, Select } from '../../parts/fields.js';
import { Page } from '../../parts/page.js';
import { Empty, Read } from '../../parts/states.js';
import { KeyFacts } from './one-key.js';
import { RequestLog } from './request-log.js';
import { UsageCharts } from './usage-charts.js';

/** The limits of the key that signed in, examples, and its usage. */
export function Own() {
  return (
    <Page title="Your key">
      <Read name="own/limits">
        {(row) => (
          <>
            <KeyFacts row={row} />
            <h2>Limits</h2>
            <Facts
              rows={{
                'Units today (UTC)': (
                  <Usage label="Units today" used={row.used.unitsInDay} limit={row.limits.unitsPerDay} />
                ),
                'Units this month (UTC)': (
                  <Usage
                    label="Units this month"
                    used={row.used.unitsInMonth}
                    limit={row.limits.unitsPerMonth}
                  />
                ),
              }}
            />
            <p>
              {formatCount(row.limits.unitsPerSecond)} units per second
              {Object.entries(row.limits.callsPerSecond).map(
                ([method, most]) => `, ${most} ${method} per second`,
              )}
              {row.limits.maxBlock !== null && `, files up to block ${formatCount(row.limits.maxBlock)}`}
              {row.limits.maxLogRange !== null &&
                `, logs of up to ${formatCount(row.limits.maxLogRange)} blocks per call`}
              . A call costs one unit or more.
            </p>
          </>
        )}
      </Read>
      <Read name="own/networks" everyMs={60_000}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>This key has no networks yet. Ask an operator.</Empty>
          ) : (
            <>
              <h2>Examples</h2>
              <Examples networks={rows} />
            </>
          )
        }
      </Read>
      <UsageCharts of={null} />
      <RequestLog of={null} />
    </Page>
  );
}

/** Lines to paste, for one network; `range` is published for sure. */
export function Examples(given: {
  networks: Answer<'own/networks'>;
  /** Where it is known. */
  apiKey?: string | undefined;
  range?: { kinds: readonly string[]; from: number; to: number } | undefined;
}) {
  const { networks, apiKey = 'ph_…', range } = given;
  const [id, choose] = useState(networks[0]?.id ?? '');
  const [gateway, setGateway] = useState('');
  const network = networks.find((each) => each.id === id) ?? (networks[0] as Answer<'own/networks'>[number]);
  const address = network.address ?? `${(gateway || 'https://GATEWAY').replace(/\/+$/, '')}/${network.id}`;
  const jsonRpc = network.jsonRpc ?? `${address}/v1/`;
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
  const isEvm = network.family === null || network.family === 'evm';
  return (
    <>
      <Select label="Network" value={network.id} options={networks.map((each) => each.id)} choose={choose} />
      {network.address === null && (
        <Field
          label="Gateway URL (not configured here)"
          type="url"
          value={gateway}
          placeholder="https://data.example.com"
          onInput={(event) => setGateway(event.currentTarget.value)}
        />
      )}
      <p>Set the key once:</p>
      <Copy label="the line that sets the key" text={`export PACKHOUSE_API_KEY=${apiKey}`} />
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
            text={`packhouse pull ${address} ${toOptions(range)} --out ${network.id}`}
          />
          <p>With viem:</p>
          <Copy label="the lines for viem" text={getViemLines(jsonRpc)} />
        </>
      )}
      {!isEvm && <Copy label="the JSON-RPC URL" text={`${jsonRpc}$PACKHOUSE_API_KEY`} />}
    </>
  );
}

/** Of `packhouse pull`. */
const toOptions = (range: { kinds: readonly string[]; from: number; to: number } | undefined): string =>
  range === undefined
    ? '--kinds logs --from 17M --to +1000'
    : `--kinds ${range.kinds.join(',')} --from ${range.from} --to ${range.to}`;

function getViemLines(jsonRpc: string): string {
  return [
    "import { createPublicClient, http } from 'viem';",
    '',
    'const client = createPublicClient({',
    `  transport: http(\`${jsonRpc}\${process.env.PACKHOUSE_API_KEY}\`),`,
    '});',
    'console.log(await client.getBlockNumber());',
  ].join('\n');
}
