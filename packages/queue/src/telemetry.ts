import type { Context } from '@packhouse/runtime';
import type { Telemetry } from 'bullmq';

/** The optional package, which the compiler must not look for. */
const PACKAGE: string = 'bullmq-otel';

interface BullMqOtel {
  BullMQOtel: new (options: { tracerName: string }) => Telemetry;
}

/**
 * Spans of jobs, if the process is traced and `bullmq-otel` is installed; else undefined, at no cost. A job's span is
 * inside of the span that wants the job, and active while the job runs.
 */
export async function openTelemetry({ tracing, logger }: Context): Promise<Telemetry | undefined> {
  if (tracing === undefined) return undefined;
  try {
    const { BullMQOtel } = (await import(PACKAGE)) as BullMqOtel;
    return new BullMQOtel({ tracerName: 'packhouse' });
  } catch (error) {
    logger.info({ err: error }, 'jobs have no spans: the package bullmq-otel is not installed');
    return undefined;
  }
}
