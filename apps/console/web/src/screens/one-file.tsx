import { useState } from 'preact/hooks';
import { ApiError, readFile } from '../lib/api.js';
import { type Check, checkFile, type PublishedFile, type SigningKey } from '../lib/check-file.js';
import { bytes, count, dateTime } from '../lib/format.js';
import { inflateRecords } from '../lib/inflate-records.js';
import { hrefOf } from '../lib/route.js';
import { useRead } from '../lib/use-read.js';
import { JsonTree } from '../parts/json-tree.js';
import { Problem, Shown } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';

/** Records that are shown, and rows and columns of their table. */
const RECORDS = 5;
const ROWS = 50;
const COLUMNS = 8;

/** One published file: what is known of it, and, once it is opened, whether it is whole, and its first records. */
export function OneFile(place: { network: string; kind: string; start: string }) {
  const reading = useRead<PublishedFile>('files/show', place, 60_000);
  const keys = useRead<SigningKey[]>('manifest/keys', {}, 60_000);
  return (
    <>
      <p>
        <a href={hrefOf('files', { network: place.network })}>Files</a>
      </p>
      <h1>
        {place.kind} of <bdi>{place.network}</bdi> from block {place.start}
      </h1>
      <Shown reading={reading}>
        {(file) => (
          <>
            <dl>
              <dt>Blocks</dt>
              <dd>
                {count(file.start)} to {count(file.end)}
              </dd>
              <dt>Published</dt>
              <dd>
                {dateTime(file.publishedAt)}
                {file.version > 1 && `, version ${file.version}`}
              </dd>
              <dt>Size</dt>
              <dd>
                {bytes(file.byteLength)}, {bytes(file.rawLength)} of JSON
              </dd>
              <dt>SHA-256</dt>
              <dd>
                <code>{file.sha256}</code>
              </dd>
              <dt>Hash of the first block</dt>
              <dd>
                <code>{file.firstHash}</code>
              </dd>
              <dt>Hash of the last block</dt>
              <dd>
                <code>{file.lastHash}</code>
              </dd>
            </dl>
            <Shown reading={keys}>{(known) => <Opened key={file.sha256} file={file} keys={known} />}</Shown>
          </>
        )}
      </Shown>
    </>
  );
}

interface Content {
  checks: Check[];
  records: unknown[];
}

function Opened({ file, keys }: { file: PublishedFile; keys: readonly SigningKey[] }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [content, setContent] = useState<Content | null>(null);
  const open = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      setContent(await contentOf(file, keys));
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setError(problem);
    }
    setBusy(false);
  };
  return (
    <>
      <p>
        <button type="button" class="main" disabled={busy} onClick={open}>
          {busy ? 'Opening …' : 'Open and verify here'}
        </button>
      </p>
      {error !== null && <Problem error={error} />}
      {content !== null && (
        <>
          <h2>Checks, made by this browser</h2>
          <Table
            label="Checks"
            rows={content.checks}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Check', cell: ({ name }) => name },
              {
                title: 'Result',
                cell: ({ fits }) =>
                  fits === null ? (
                    <span class="wait">not checked</span>
                  ) : fits ? (
                    <span class="good">fits</span>
                  ) : (
                    <strong class="bad">does not fit</strong>
                  ),
              },
              { title: 'Found', cell: ({ found }) => <span class="mono">{found}</span> },
            ]}
          />
          <RecordTable records={content.records} />
          <h2>As a tree</h2>
          {content.records.map((record, index) => (
            <JsonTree
              key={file.start + index}
              name={`block ${count(file.start + index)}`}
              value={record}
              open={index === 0}
            />
          ))}
        </>
      )}
    </>
  );
}

async function contentOf(file: PublishedFile, keys: readonly SigningKey[]): Promise<Content> {
  const { network, kind, start } = file;
  const body = await readFile(`${encodeURIComponent(network)}/${kind}/${start}`);
  const checks = await checkFile(body, file, keys);
  try {
    const { first, rawBytes } = await inflateRecords(new Blob([body]), RECORDS);
    const fits = rawBytes === file.rawLength;
    const found = fits ? `${rawBytes} bytes` : `${rawBytes} bytes instead of ${file.rawLength}`;
    return { checks: [...checks, { name: 'Size of the JSON', fits, found }], records: first };
  } catch (error) {
    const found = `It cannot be inflated: ${(error as Error).message}`;
    return { checks: [...checks, { name: 'Content', fits: false, found }], records: [] };
  }
}

/** The items of the first records (logs, transactions …; a block is one itself) as rows. */
function RecordTable({ records }: { records: readonly unknown[] }) {
  const items = records.flatMap((record) => (Array.isArray(record) ? (record as unknown[]) : [record]));
  const rows = items
    .slice(0, ROWS)
    .map((item, index) => ({ index, item: (item ?? {}) as Record<string, unknown> }));
  const names = [...new Set(rows.flatMap(({ item }) => Object.keys(item)))].slice(0, COLUMNS);
  return (
    <>
      <h2>First records</h2>
      {rows.length === 0 ? (
        <p class="faint">The first {RECORDS} blocks have none.</p>
      ) : (
        <Table
          label="First records"
          rows={rows}
          keyOf={({ index }) => index}
          columns={names.map((title) => columnOf(title))}
        />
      )}
    </>
  );
}

interface Item {
  index: number;
  item: Record<string, unknown>;
}

const columnOf = (title: string): Column<Item> => ({
  title,
  cell: ({ item }) => <code>{shortOf(item[title])}</code>,
});

function shortOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 80 ? `${text.slice(0, 80)} …` : text;
}
