import { AsyncLocalStorage } from 'node:async_hooks';
import {
  context as active,
  type Context as OtelContext,
  type Span as OtelSpan,
  propagation,
  ROOT_CONTEXT,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { type Context, openTracing } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createQueues } from './create-queues.js';
import { context, ingest, until } from './testing/fixtures.js';
import { postgresServer, type Server } from './testing/servers.js';

interface Seen {
  name: string;
  traceId: string;
}

/** The parts of an OpenTelemetry SDK that a trace needs: what is active, the header `traceparent`, and spans. */
function registerSdk(): Seen[] {
  const storage = new AsyncLocalStorage<OtelContext>();
  active.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (ctx, work, self, ...args) => storage.run(ctx, () => work.apply(self, args)),
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  propagation.setGlobalPropagator({
    fields: () => ['traceparent'],
    inject: (ctx, carrier, setter) => {
      const span = trace.getSpanContext(ctx);
      if (span) setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`);
    },
    extract: (ctx, carrier, getter) => {
      const [, traceId = '', spanId = ''] = String(getter.get(carrier, 'traceparent')).split('-');
      return trace.setSpanContext(ctx, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
    },
  });
  const seen: Seen[] = [];
  const startSpan = (name: string, _: unknown, parent = active.active()): OtelSpan => {
    const above = trace.getSpanContext(parent);
    const number = String(seen.length + 1);
    const ids = { traceId: above?.traceId ?? number.padStart(32, 'a'), spanId: number.padStart(16, 'b') };
    seen.push({ name, traceId: ids.traceId });
    const span: OtelSpan = {
      spanContext: () => ({ ...ids, traceFlags: TraceFlags.SAMPLED }),
      setAttribute: () => span,
      setAttributes: () => span,
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      setStatus: () => span,
      updateName: () => span,
      end: () => undefined,
      isRecording: () => true,
      recordException: () => undefined,
    };
    return span;
  };
  trace.setGlobalTracerProvider({
    getTracer: () => ({ startSpan, startActiveSpan: () => undefined as never }),
  });
  return seen;
}

let server: Server;
beforeAll(async () => {
  server = await postgresServer();
});
afterAll(async () => {
  trace.disable();
  active.disable();
  propagation.disable();
  await server.stop();
});

/** Not known to the compiler where it is not installed. */
const PACKAGE: string = 'bullmq-otel';
const installed = await import(PACKAGE).then(
  () => true,
  () => false,
);

it.skipIf(!installed)(
  'one trace leads from what wants a job to what the job does (needs bullmq-otel)',
  async () => {
    const seen = registerSdk();
    const tracing = await openTracing();
    const traced: Context = { ...context, ...(tracing === undefined ? {} : { tracing }) };
    const queues = await createQueues({ ...server.url, context: traced });
    const plan = tracing?.work('plan');
    await queues.add('ingest', [{ ...ingest('a'), trace: plan?.traceparent }, ingest('b')]);
    plan?.end();
    const ran: string[] = [];
    await queues.work(
      'ingest',
      async ({ id }) => {
        tracing?.work(`publish ${id}`).end();
        ran.push(id);
      },
      { concurrency: 1 },
    );
    await until(() => expect(ran).toHaveLength(2));
    await queues.close();
    const toTrace = (name: string): string | undefined => seen.find((span) => span.name === name)?.traceId;
    expect(toTrace('publish a')).toBe(toTrace('plan'));
    expect(toTrace('publish b')).not.toBe(toTrace('plan'));
  },
);
