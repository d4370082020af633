import {
  context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanOptions,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { openTracing } from './tracing.js';

interface Seen {
  name: string;
  traceId: string;
  spanId: string;
  parentId: string | undefined;
  attributes: Record<string, unknown>;
  status: unknown;
  ended: boolean;
}

/** A minimal OpenTelemetry SDK that records its calls. */
function registerProvider(): Seen[] {
  const seen: Seen[] = [];
  let count = 0;
  const startSpan = (name: string, options: SpanOptions = {}, parent = context.active()): OtelSpan => {
    const above = trace.getSpanContext(parent);
    count += 1;
    const one: Seen = {
      name,
      traceId: above?.traceId ?? String(count).padStart(32, 'a'),
      spanId: String(count).padStart(16, 'b'),
      parentId: above?.spanId,
      attributes: { ...options.attributes },
      status: undefined,
      ended: false,
    };
    seen.push(one);
    const span: OtelSpan = {
      spanContext: () => ({ traceId: one.traceId, spanId: one.spanId, traceFlags: TraceFlags.SAMPLED }),
      setAttribute: (key, value) => {
        one.attributes[key] = value;
        return span;
      },
      setAttributes: (attributes) => {
        Object.assign(one.attributes, attributes);
        return span;
      },
      addEvent: () => span,
      addLink: () => span,
      addLinks: () => span,
      setStatus: (status) => {
        one.status = status;
        return span;
      },
      updateName: () => span,
      end: () => {
        one.ended = true;
      },
      isRecording: () => true,
      recordException: () => undefined,
    };
    return span;
  };
  const tracer = { startSpan, startActiveSpan: () => undefined as never };
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  return seen;
}

afterEach(() => trace.disable());

describe('tracing', () => {
  it('is not there where nobody registered an SDK', async () => {
    expect(await openTracing()).toBeUndefined();
  });

  it('begins spans inside of each other, in the trace of whoever asked', async () => {
    const seen = registerProvider();
    const tracing = await openTracing();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const request = tracing?.request('POST', {
      traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
      facts: { a: 1 },
    });
    const call = request?.child('eth_call');
    const asked = call?.child('eth_call', { 'packhouse.upstream': 'one' }, 'calls');
    expect(asked?.traceparent).toBe(`00-${traceId}-${seen[2]?.spanId}-01`);
    asked?.fail('timeout');
    asked?.end();
    call?.note({ b: true });
    call?.end();
    request?.end();
    expect(seen).toMatchObject([
      { name: 'POST', traceId, parentId: '00f067aa0ba902b7', attributes: { a: 1 }, ended: true },
      { name: 'eth_call', traceId, parentId: seen[0]?.spanId, attributes: { b: true }, ended: true },
      { traceId, parentId: seen[1]?.spanId, status: { message: 'timeout' }, ended: true },
    ]);
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`,
    'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    '00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01',
  ])('begins a trace of its own for the traceparent %j', async (traceparent) => {
    const seen = registerProvider();
    expect(trace.getSpanContext(ROOT_CONTEXT)).toBeUndefined();
    (await openTracing())?.request('GET', { traceparent }).end();
    expect(seen).toMatchObject([{ parentId: undefined, ended: true }]);
  });
});
