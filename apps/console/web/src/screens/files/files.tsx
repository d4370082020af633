import { onForm, toText } from '../../lib/form-values.js';
import { formatBytes, formatCount, formatDate, pluralize } from '../../lib/format.js';
import { toHref, useRoute } from '../../lib/route.js';
import { Ago } from '../../parts/facts.js';
import { NetworkScreen } from '../../parts/networks.js';
import { Read } from '../../parts/states.js';
import { ReadTable, Table } from '../../parts/table.js';
import { LakeTables } from './lake-tables.js';
import { OneFile } from './one-file.js';

/** Published files: those with a block, the newest, audits and repairs, signing keys; and one of them. */
export function Files() {
  const { parts, query } = useRoute();
  const [, one, kind, start] = parts;
  if (one !== undefined && kind !== undefined && start !== undefined)
    return <OneFile network={one} kind={kind} start={start} />;
  const { block } = query;
  return (
    <>
      <NetworkScreen title="Files" path="files">
        {(network) => (
          <>
            <BlockForm key={`${network} ${block}`} network={network} block={block} />
            {block !== undefined && <FilesWithBlock network={network} block={block} />}
            <Newest network={network} />
            <LakeTables network={network} />
            <Audits network={network} />
          </>
        )}
      </NetworkScreen>
      <Keys />
    </>
  );
}

function BlockForm({ network, block }: { network: string; block: string | undefined }) {
  const submit = onForm((form) => {
    location.hash = toHref('files', { network, block: toText(form, 'block') });
  });
  return (
    <form class="actions" onSubmit={submit}>
      <label class="inline">
        Block <input name="block" defaultValue={block} inputMode="numeric" pattern="[0-9_,]+" required />
      </label>
      <button type="submit">Find files</button>
    </form>
  );
}

function FileLink(file: Record<'network' | 'kind', string> & Record<'from' | 'to', number>) {
  const { network, kind, from, to } = file;
  return (
    <a href={toHref(`files/${encodeURIComponent(network)}/${kind}/${from}`)}>
      {from}-{to}
    </a>
  );
}

const STATES = { published: 'published', staged: 'staged, waiting for a full bundle', absent: 'missing' };

function FilesWithBlock({ network, block }: { network: string; block: string }) {
  return (
    <>
      <h2>Files with block {block}</h2>
      <Read name="files/of-block" input={{ network, block }}>
        {(places) => (
          <>
            <Table
              label="Files with the block"
              rows={places}
              keyOf={({ kind }) => kind}
              numbers={['Size']}
              columns={{
                Kind: ({ kind }) => kind,
                State: ({ state }) => STATES[state],
                File: ({ kind, file }) =>
                  file === null ? '-' : <FileLink {...file} network={network} kind={kind} />,
                Size: ({ file }) => (file ? formatBytes(file.byteLength) : '-'),
              }}
            />
            {places.some(({ state }) => state === 'absent') && (
              <p>
                See the <a href={toHref('coverage', { network, from: block, to: block })}>coverage map</a> for
                the reason.
              </p>
            )}
          </>
        )}
      </Read>
    </>
  );
}

function Newest({ network }: { network: string }) {
  return (
    <ReadTable
      headed
      name="files/newest"
      input={{ network }}
      label="Newest files"
      keyOf={({ kind, sequence }) => `${kind} ${sequence}`}
      empty="No files yet. A packer publishes one as soon as enough finalized blocks are staged."
      numbers={['Size', 'Entry', 'Version']}
      columns={{
        Kind: ({ kind }) => kind,
        File: (entry) => <FileLink {...entry} network={network} />,
        Size: (entry) => formatBytes(entry.bytes),
        Entry: ({ sequence }) => formatCount(sequence),
        Version: ({ version }) => version,
        Published: ({ publishedAt }) => <Ago at={publishedAt} />,
      }}
    />
  );
}

function Audits({ network }: { network: string }) {
  return (
    <>
      <h2>Audits and repairs</h2>
      <Read name="audits" input={{ network }}>
        {({ last, superseded }) => (
          <>
            {last === null ? (
              <p>No audits yet. Packers audit a sample every hour (AUDIT_EVERY).</p>
            ) : (
              <p>
                Last audit: <Ago at={last.finishedAt} />, {pluralize(last.bundles, 'file')} (
                {formatBytes(last.bytesRead)}
                ),{' '}
                {last.findings === 0 ? (
                  <span class="good">no errors.</span>
                ) : (
                  <strong class="bad">
                    {pluralize(last.findings, 'error')}. Run <code>packhouse audit --repair</code>.
                  </strong>
                )}
              </p>
            )}
            <p>
              Replaced files:{' '}
              {superseded.map(({ kind, count: files }) => `${formatCount(files)} of ${kind}`).join(', ') ||
                'none'}
            </p>
          </>
        )}
      </Read>
    </>
  );
}

const Keys = () => (
  <ReadTable
    headed
    name="manifest/keys"
    everyMs={60_000}
    label="Signing keys"
    keyOf={({ keyId }) => keyId}
    empty="No signing keys yet. The first packer creates one."
    columns={{
      ID: ({ keyId }) => <code>{keyId}</code>,
      'Public key': ({ publicKey }) => <code>{publicKey}</code>,
      Created: ({ createdAt }) => formatDate(createdAt),
      State: ({ retiredAt }) => (retiredAt === null ? 'active' : `retired ${formatDate(retiredAt)}`),
    }}
  />
);
