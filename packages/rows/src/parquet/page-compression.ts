import zlib from 'node:zlib';
import { type DeflateKernel, openDeflateKernel } from '@packhouse/kernels';

/** How pages are compressed, in every reader of Parquet. */
interface PageCompression {
  codec: 'ZSTD' | 'GZIP';
  /** `distinct`: values that do not repeat. The bytes are the caller's to keep. */
  compress(bytes: Uint8Array, distinct: boolean): Uint8Array;
}

/** Header of a gzip member (RFC 1952): deflate, no name, no time, unknown system. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** A final block without bytes (RFC 1951, 3.2.6). */
const LAST_BLOCK = Uint8Array.of(3, 0);
/** More than the kernel takes; a page has more only if a single value does. */
const MAX_KERNEL_BYTES = 16_000_000;

/** Zstandard where Node has it (22.15), else gzip. */
export function openPageCompression(): PageCompression {
  const { zstdCompressSync: zstd } = zlib as {
    zstdCompressSync?: (bytes: Uint8Array, options: { params: Record<number, number> }) => Buffer;
  };
  if (zstd === undefined) return { codec: 'GZIP', compress: openGzip() };
  const { ZSTD_c_compressionLevel: level } = zlib.constants as unknown as Record<string, number>;
  // Hex is half of the bytes: level 1 is smaller than the default on it, at a third of the CPU.
  const options = { params: { [level as number]: 1 } };
  return { codec: 'ZSTD', compress: (bytes) => zstd(bytes, options) };
}

/** A third of the CPU of zlib at level 1, and smaller: the kernel is made for hex. */
function openGzip(): PageCompression['compress'] {
  let kernel: DeflateKernel | null = null;
  try {
    kernel = openDeflateKernel();
  } catch {
    // No WebAssembly with SIMD.
  }
  return (bytes, distinct) => {
    if (kernel === null || bytes.length > MAX_KERNEL_BYTES) {
      const { Z_RLE, Z_DEFAULT_STRATEGY } = zlib.constants;
      // Nothing of what differs is found again, but zeros: looking for it takes twice as long.
      return zlib.gzipSync(bytes, { level: 1, strategy: distinct ? Z_RLE : Z_DEFAULT_STRATEGY });
    }
    kernel.take(bytes);
    const tail = Buffer.alloc(8);
    tail.writeUInt32LE(zlib.crc32(bytes), 0);
    tail.writeUInt32LE(bytes.length, 4);
    return Buffer.concat([GZIP_HEADER, kernel.deflate(), LAST_BLOCK, tail]);
  };
}
