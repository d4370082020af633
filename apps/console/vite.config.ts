import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Writes each file a second time, compressed: the console sends that one to browsers that take it. */
const compressed: Plugin = {
  name: 'compressed',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        const source = brotliCompressSync(file.type === 'chunk' ? file.code : file.source);
        this.emitFile({ type: 'asset', fileName: `${name}.br`, source });
      }
    },
  },
};

// biome-ignore lint/style/noDefaultExport: Vite takes its settings from the default export.
export default defineConfig({
  plugins: [compressed],
  root: fileURLToPath(new URL('./web/', import.meta.url)),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    // Indexes of packages name them; the pages take nothing that needs them, and a bare import would stop the page.
    rolldownOptions: {
      external: [/^node:/, 'pino', 'prom-client', 'zod'],
      treeshake: { moduleSideEffects: 'no-external' },
    },
  },
  // While the pages are worked on: `npx vite apps/console` beside a console at its usual port.
  server: { proxy: { '/api': 'http://127.0.0.1:8090' } },
});
