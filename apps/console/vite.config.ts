import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { build, defineConfig, type Plugin } from 'vite';

const root = fileURLToPath(new URL('./web/', import.meta.url));
const BOOT = '<script type="module" src="/src/boot.ts"></script>';

/**
 * Writes into the HTML what would cost a round trip each: the styles, and `boot.ts`, which begins the first requests; and
 * the name of the chunk of the other screens. The console allows the script by its hash.
 */
const firstPage: Plugin = {
  name: 'first-page',
  apply: 'build',
  transformIndexHtml: {
    order: 'pre',
    async handler(html) {
      const built = await build({
        configFile: false,
        logLevel: 'silent',
        root,
        build: {
          write: false,
          modulePreload: false,
          rolldownOptions: {
            input: `${root}src/boot.ts`,
            output: { format: 'iife' },
            treeshake: { moduleSideEffects: false },
          },
        },
      });
      const [chunk] = 'output' in built ? built.output : [];
      if (chunk?.type !== 'chunk' || !html.includes(BOOT)) throw new Error('boot.ts was not built');
      return html.replace(BOOT, () => `<script>${chunk.code.trim()}</script>`);
    },
  },
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      const page = bundle['index.html'];
      const screens = Object.values(bundle).find(
        (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith('/other-screens.ts'),
      );
      if (page?.type !== 'asset' || screens === undefined)
        throw new Error('the page has no chunk of screens');
      page.source = String(page.source)
        .replace(/<link rel="stylesheet"[^>]*href="\/([^"]+)">/g, (_, name: string) => {
          const style = bundle[name];
          delete bundle[name];
          return `<style>${style?.type === 'asset' ? String(style.source).trim() : ''}</style>`;
        })
        .replace('<title>', `<meta name="screens" content="/${screens.fileName}">\n    <title>`);
    },
  },
};

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
  plugins: [firstPage, compressed],
  root,
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
