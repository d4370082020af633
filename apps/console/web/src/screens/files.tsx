import type { SigningKey } from '../lib/check-file.js';
import { ago, bytes, count, dateTime } from '../lib/format.js';
import { hrefOf, useRoute } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { textOf } from '../parts/change-form.js';
import { Empty, Shown } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { OneFile } from './one-file.js';

interface Entry {
  kind: string;
  sequence: number;
  start: number;
  end: number;
  bytes: number;
  version: number;
  publishedAt: string;
}

interface Place {
  kind: string;
  state: 'published' | 'staged' | 'absent';
  file: { start: number; end: number; byteLength: number } | null;
}

interface Audit {
  last: { finishedAt: string; bundles: number; bytesRead: number; findings: number } | null;
  superseded: { kind: string; count: number }[];
}

/** Published files: those of a block, the newest, audits and repairs, signing keys; and one of them, opened. */
export function Files() {
  const { path, query } = useRoute();
  const networks = useRead<{ id: string }[]>('networks', {}, 60_000);
  const [, one, kind, start] = path.split('/');
  if (one !== undefined && kind !== undefined && start !== undefined)
    return <OneFile network={one} kind={kind} start={start} />;
  const network = query.get('network') ?? networks.value?.[0]?.id;
  return (
    <>
      <h1>Files</h1>
      <Shown reading={networks}>
        {(all) =>
          network === undefined ? (
            <Empty>
              The database knows no network yet: an ingester enters those of its networks file when it starts.
            </Empty>
          ) : (
            <>
              <Choice all={all.map(({ id }) => id)} network={network} block={query.get('block') ?? ''} />
              {query.has('block') && <OfBlock network={network} block={query.get('block') ?? ''} />}
              <Newest network={network} />
              <Audits network={network} />
            </>
          )
        }
      </Shown>
      <Keys />
    </>
  );
}

function Choice({ all, network, block }: { all: readonly string[]; network: string; block: string }) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    location.hash = hrefOf('files', { network: textOf(form, 'network'), block: textOf(form, 'block') });
  };
  return (
    <form key={`${network} ${block}`} class="actions" onSubmit={submit}>
      <label class="inline">
        Network{' '}
        <select
          name="network"
          defaultValue={network}
          onChange={(event) => {
            location.hash = hrefOf('files', { network: event.currentTarget.value });
          }}
        >
          {[...new Set([network, ...all])].sort().map((id) => (
            <option key={id} selected={id === network}>
              {id}
            </option>
          ))}
        </select>
      </label>
      <label class="inline">
        Block <input name="block" defaultValue={block} inputMode="numeric" pattern="[0-9_,]+" required />
      </label>
      <button type="submit">Find its files</button>
    </form>
  );
}

const hrefOfFile = (network: string, kind: string, start: number): string =>
  hrefOf(`files/${encodeURIComponent(network)}/${kind}/${start}`);

function OfBlock({ network, block }: { network: string; block: string }) {
  const reading = useRead<Place[]>('files/of-block', { network, block });
  const said = { published: 'published', staged: 'staged, waits for a full file', absent: 'not there' };
  return (
    <>
      <h2>Files of block {block}</h2>
      <Shown reading={reading}>
        {(places) => (
          <>
            <Table
              label="Files of the block"
              rows={places}
              keyOf={({ kind }) => kind}
              columns={[
                { title: 'Kind', cell: ({ kind }) => kind },
                { title: 'State', cell: ({ state }) => said[state] },
                {
                  title: 'File',
                  cell: ({ kind, file }) =>
                    file === null ? (
                      '-'
                    ) : (
                      <a href={hrefOfFile(network, kind, file.start)}>
                        {file.start}-{file.end}
                      </a>
                    ),
                },
                { title: 'Size', number: true, cell: ({ file }) => (file ? bytes(file.byteLength) : '-') },
              ]}
            />
            {places.some(({ state }) => state === 'absent') && (
              <p>
                Why something is not there is on the{' '}
                <a href={hrefOf('coverage', { network, from: block, to: block })}>coverage map</a>.
              </p>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

function Newest({ network }: { network: string }) {
  const reading = useRead<Entry[]>('files/newest', { network });
  return (
    <>
      <h2>Newest</h2>
      <Shown reading={reading}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty>
              The manifest of this network has no entry yet: a packer publishes a file as soon as enough final
              blocks are staged.
            </Empty>
          ) : (
            <Table
              label="Newest files"
              rows={entries}
              keyOf={({ kind, sequence }) => `${kind} ${sequence}`}
              columns={[
                { title: 'Kind', cell: ({ kind }) => kind },
                {
                  title: 'File',
                  cell: ({ kind, start, end }) => (
                    <a href={hrefOfFile(network, kind, start)}>
                      {start}-{end}
                    </a>
                  ),
                },
                { title: 'Size', number: true, cell: (entry) => bytes(entry.bytes) },
                { title: 'Entry', number: true, cell: ({ sequence }) => count(sequence) },
                { title: 'Version', number: true, cell: ({ version }) => version },
                {
                  title: 'Published',
                  cell: ({ publishedAt }) => <span title={dateTime(publishedAt)}>{ago(publishedAt)}</span>,
                },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}

function Audits({ network }: { network: string }) {
  const reading = useRead<Audit>('audits', { network });
  return (
    <>
      <h2>Audits and repairs</h2>
      <Shown reading={reading}>
        {({ last, superseded }) => (
          <>
            {last === null ? (
              <p>No audit has ended yet; packers read a sample back every hour (AUDIT_EVERY).</p>
            ) : (
              <p>
                The last audit ended {ago(last.finishedAt)}: it read {count(last.bundles)} files (
                {bytes(last.bytesRead)}) and{' '}
                {last.findings === 0 ? (
                  <span class="good">found no fault.</span>
                ) : (
                  <strong class="bad">
                    found {count(last.findings)} faults; `packhouse audit --repair` mends them.
                  </strong>
                )}
              </p>
            )}
            <p>
              {superseded.length === 0
                ? 'No file was published again.'
                : `Published again: ${superseded.map(({ kind, count: files }) => `${count(files)} of ${kind}`).join(', ')}.`}
            </p>
          </>
        )}
      </Shown>
    </>
  );
}

function Keys() {
  const reading = useRead<SigningKey[]>('manifest/keys', {}, 60_000);
  return (
    <>
      <h2>Signing keys</h2>
      <Shown reading={reading}>
        {(keys) =>
          keys.length === 0 ? (
            <Empty>There is none yet: the first packer makes one.</Empty>
          ) : (
            <Table
              label="Signing keys"
              rows={keys}
              keyOf={({ keyId }) => keyId}
              columns={[
                { title: 'Id', cell: ({ keyId }) => <code>{keyId}</code> },
                { title: 'Public key', cell: ({ publicKey }) => <code>{publicKey}</code> },
                { title: 'Made', cell: ({ createdAt }) => dateTime(createdAt) },
                {
                  title: 'State',
                  cell: ({ retiredAt }) => (retiredAt === null ? 'in use' : `retired ${dateTime(retiredAt)}`),
                },
              ]}
            />
          )
        }
      </Shown>
    </>
  );
}
