import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';

/** Writes the file from which libfaketime reads by how much the clock is off; every process that has it sees it at once. */
export function writeOffset(file, ms) {
  // Renamed: nobody reads half of it.
  writeFileSync(`${file}.new`, `${ms < 0 ? '' : '+'}${(ms / 1_000).toFixed(3)}\n`, { mode: 0o644 });
  renameSync(`${file}.new`, file);
}

/** Where packages put libfaketime; undefined: it is not installed. */
export function findFaketime() {
  const folders = ['/usr/lib', '/usr/lib64', '/usr/local/lib'].filter((folder) => existsSync(folder));
  return folders
    .flatMap((folder) => [folder, ...readdirSync(folder).map((name) => `${folder}/${name}`)])
    .map((folder) => `${folder}/faketime/libfaketime.so.1`)
    .find((file) => existsSync(file));
}
