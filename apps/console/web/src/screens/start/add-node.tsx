import { useRef, useState } from 'preact/hooks';
import type { Answer } from '../../lib/answers.js';
import { formatBlock } from '../../lib/format.js';
import { useRead } from '../../lib/hooks/use-read.js';
import { useIsAdmin } from '../../lib/hooks/use-session.js';
import { ChangeForm } from '../../parts/changes.js';
import { Chip } from '../../parts/chip.js';
import { Copy } from '../../parts/copy.js';
import { Facts } from '../../parts/facts.js';
import { text } from '../../parts/form-fields.js';

type Tested = Answer<'nodes/test'> & { url: string };

const DEFAULT_URL = 'http://127.0.0.1:8545';
const FIELDS = {
  network: text('Network (its name, also in URLs)', {
    required: true,
    maxLength: 32,
    pattern: '[a-z0-9][a-z0-9\\-]*',
    placeholder: 'mainnet',
  }),
  url: text('JSON-RPC address', {
    type: 'url',
    required: true,
    maxLength: 2_000,
    autocomplete: 'off',
    placeholder: DEFAULT_URL,
  }),
};

/** Tests an address, and shows what to write where: the console changes no file of other machines. */
export function AddNode() {
  const [tested, setTested] = useState<Tested | null>(null);
  /** The address that is being tested: `done` is that of the moment when the form was sent. */
  const url = useRef('');
  const isAdmin = useIsAdmin();
  return (
    <>
      <p>
        Nodes are in the networks file of ingesters, gateways and packers (<code>NETWORKS_FILE</code>), which
        the console cannot write.{' '}
        {isAdmin ? 'Test an address here, then add the lines that it shows to that file.' : ''}
      </p>
      {isAdmin ? (
        <ChangeForm
          name="nodes/test"
          submit="Test"
          fields={FIELDS}
          getInput={(_, read) => {
            url.current = String(read.url);
            return read;
          }}
          defaults={tested ?? {}}
          done={(result) => setTested({ ...result, url: url.current })}
        />
      ) : (
        <p>
          Only admins can test addresses here, because the console connects to them.{' '}
          <code>packhouse doctor</code> runs the same test.
        </p>
      )}
      {tested !== null && <Result tested={tested} />}
      <NextStep tested={tested} />
    </>
  );
}

function Result({ tested }: { tested: Tested }) {
  const { chainId, checks, findings, head, usable } = tested;
  return (
    <section class="card" aria-label="Result" aria-live="polite">
      <p>
        {usable ? <Chip tone="good">Usable</Chip> : <Chip tone="bad">Not usable</Chip>} Chain {chainId}, head{' '}
        {formatBlock(head)}.
      </p>
      <Facts
        rows={Object.fromEntries(
          checks
            .filter(({ level }) => level !== 'none')
            .map(({ name, level, text }) => [
              name,
              <span key={name} class={level === 'ok' ? 'good' : level === 'warn' ? 'wait' : 'bad'}>
                {level}: <bdi>{text}</bdi>
              </span>,
            ]),
        )}
      />
      {findings.map(({ level, message, hint }) => (
        <p key={message} class={level === 'fail' ? 'bad' : 'wait'}>
          <bdi>{message}</bdi> {hint}
        </p>
      ))}
    </section>
  );
}

/** What to write where, and which process does not run yet. */
function NextStep({ tested }: { tested: Tested | null }) {
  const workers = useRead('workers').value;
  const hasIngester = workers?.some(({ role }) => role === 'ingester');
  return (
    <>
      {tested !== null && (
        <>
          {!tested.usable && <p class="bad">Fix the problems above before you add it.</p>}
          <Copy label="the lines for the networks file" text={toLines(tested)} />
        </>
      )}
      <p>
        {hasIngester === false ? (
          <>
            No ingester is running. Start <code>packhouse ingester</code> with that file, or{' '}
            <code>packhouse local --rpc {tested?.url ?? DEFAULT_URL}</code> to run everything on this machine.
          </>
        ) : (
          'Ingesters use the file within seconds, without a restart.'
        )}{' '}
        This page continues as soon as the node responds to one of them.
      </p>
    </>
  );
}

/** JSON strings are strings of YAML too. */
const toLines = ({ network, chainId, url }: Tested): string =>
  [
    'networks:',
    `  - id: ${network}`,
    '    family: evm',
    `    chainId: ${chainId}`,
    '    upstreams:',
    `      - url: ${JSON.stringify(url)}`,
  ].join('\n');
