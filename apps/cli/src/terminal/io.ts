/** The process as a command sees it; only main.ts makes it from the real one. */
export interface CliIo {
  env: Readonly<Record<string, string | undefined>>;
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream;
  cwd: string;
  pid: number;
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal;
  /** Aborted by the second one: started processes are ended at once. */
  hurry?: AbortSignal;
  /** Exit code of the process; commands set it, main.ts reads it. */
  exitCode: number;
}

/** Writes one line: text, or an object as JSON. */
export function print(io: CliIo, line: string | object): void {
  io.stdout.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
}

/** Columns of equal width, as text. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
