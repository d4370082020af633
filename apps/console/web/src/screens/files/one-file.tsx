import { useState } from 'preact/hooks';
import { readFile } from '../../lib/api.js';
import { formatBlocks, formatBytes, formatCount, formatDate } from '../../lib/format.js';
import { useTask } from '../../lib/hooks/use-task.js';
import { Button } from '../../parts/button.js';
import { Facts } from '../../parts/facts.js';
import { Page } from '../../parts/page.js';
import { Problem, Read } from '../../parts/states.js';
import { type Columns, Table } from '../../parts/table.js';
import { type Check, checkFile, compare, type PublishedFile, type SigningKey } from './check-file.js';
import { inflateRecords } from './inflate-records.js';
import { JsonTree } from './json-tree.js';

/** Records that are shown, and rows and columns of their table. */
const MAX_RECORDS = 5;
const MAX_ROWS = 50;
const MAX_COLUMNS = 8;

/** One published file; once it is opened, its checks and first records. */
export function OneFile({ network, kind, start }: { network: string; kind: string; start: string }) {
  return (
    <Page title={`${kind} of ${network} from block ${start}`} above={[['files', 'Files', { network }]]}>
      <Read name="files/show" input={{ network, kind, from: start }} everyMs={60_000}>
        {(file) => (
          <>
            <Facts
              rows={{
                Blocks: formatBlocks(file),
                Published: `${formatDate(file.publishedAt)}${file.version > 1 ? `, version ${file.version}` : ''}`,
                Size: `${formatBytes(file.byteLength)}, ${formatBytes(file.rawLength)} of JSON`,
                'SHA-256': <code>{file.sha256}</code>,
                'Hash of the first block': <code>{file.firstHash}</code>,
                'Hash of the last block': <code>{file.lastHash}</code>,
              }}
            />
            <Read name="manifest/keys" everyMs={60_000}>
              {(keys) => <Opened key={file.sha256} file={file} keys={keys} />}
            </Read>
          </>
        )}
      </Read>
    </Page>
  );
}

interface Content {
  checks: Check[];
  records: unknown[];
}

function Opened({ file, keys }: { file: PublishedFile; keys: readonly SigningKey[] }) {
  const { busy, error, run } = useTask();
  const [content, setContent] = useState<Content | null>(null);
  const open = () => run(async () => setContent(await getContent(file, keys)));
  return (
    <>
      <p>
        <Button class="main" busy={busy} onClick={open}>
          {busy ? 'Opening…' : 'Open and verify'}
        </Button>
      </p>
      {error !== null && <Problem error={error} />}
      {content !== null && (
        <>
          <h2>Checks in this browser</h2>
          <Table
            label="Checks"
            rows={content.checks}
            keyOf={({ name }) => name}
            columns={{
              Check: ({ name }) => name,
              Result: ({ passed }) =>
                passed === null ? (
                  <span class="wait">not checked</span>
                ) : passed ? (
                  <span class="good">passed</span>
                ) : (
                  <strong class="bad">failed</strong>
                ),
              Details: ({ details }) => <span class="mono">{details}</span>,
            }}
          />
          <RecordTable records={content.records} />
          <h2>JSON</h2>
          {content.records.map((record, index) => (
            <JsonTree
              key={file.from + index}
              name={`block ${formatCount(file.from + index)}`}
              value={record}
              open={index === 0}
            />
          ))}
        </>
      )}
    </>
  );
}

async function getContent(file: PublishedFile, keys: readonly SigningKey[]): Promise<Content> {
  const { network, kind, from } = file;
  const body = await readFile(`${encodeURIComponent(network)}/${kind}/${from}`);
  const checks = await checkFile(body, file, keys);
  try {
    const { first, rawBytes } = await inflateRecords(new Blob([body]), MAX_RECORDS);
    checks.push(compare('Size of the JSON', rawBytes, file.rawLength, 'bytes'));
    return { checks, records: first };
  } catch (error) {
    const details = `Cannot be decompressed: ${(error as Error).message}`;
    checks.push({ name: 'Content', passed: false, details });
    return { checks, records: [] };
  }
}

/** The items of the first records (logs, transactions …; a block is one itself) as rows. */
function RecordTable({ records }: { records: readonly unknown[] }) {
  const items = records.flatMap((record) => (Array.isArray(record) ? (record as unknown[]) : [record]));
  const rows = items
    .slice(0, MAX_ROWS)
    .map((item, index) => ({ index, item: (item ?? {}) as Record<string, unknown> }));
  const names = [...new Set(rows.flatMap(({ item }) => Object.keys(item)))].slice(0, MAX_COLUMNS);
  const columns: Columns<(typeof rows)[number]> = Object.fromEntries(
    names.map((name) => [name, ({ item }) => <code>{shorten(item[name])}</code>]),
  );
  return (
    <>
      <h2>First records</h2>
      {rows.length === 0 ? (
        <p class="faint">The first {MAX_RECORDS} blocks have no records.</p>
      ) : (
        <Table label="First records" rows={rows} keyOf={({ index }) => index} columns={columns} />
      )}
    </>
  );
}

function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > 80 ? `${text.slice(0, 80)} …` : text;
}
