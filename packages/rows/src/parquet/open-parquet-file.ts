import type { ParquetFile, ParquetOptions } from './parquet-options.js';

/**
 * Creates a Parquet file: row groups by block order, with bounds; no bloom filters. What makes
 * it is loaded with the first one: a process that writes none does without. Throws DISK_FULL, DATA_DIR_UNUSABLE.
 */
export async function openParquetFile(name: string, options: ParquetOptions): Promise<ParquetFile> {
  const { createParquetFile } = await import('./parquet-file.js');
  return createParquetFile(name, options);
}
