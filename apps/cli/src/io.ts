/** What a command has of the world; only main.ts fills it in. */
export interface CliIo {
  env: Readonly<Record<string, string | undefined>>;
  stdout: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
  stderr: NodeJS.WritableStream;
  cwd: string;
  pid: number;
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal;
  /** Aborted by the second one: whoever started processes ends them this instant. */
  hurry?: AbortSignal;
  /** What the process exits with when all is done; commands set it, main.ts reads it. */
  exitCode: number;
}

/** Writes one line, or one JSON object a line. */
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
