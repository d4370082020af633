import type { Connections } from '../connection/connections.js';
import type { Fence } from '../connection/leases.js';
import { createHistoryCounters } from './counters.js';
import type { HistorySubject } from './figures.js';
import { createHistoryMarks } from './marks.js';
import { readRecent } from './read-recent.js';
import { readSeries } from './read-series.js';
import { rollUp } from './roll-up.js';
import { createSampleWriter } from './samples.js';

/** The past of figures, in samples of a minute for seven days and of an hour for a year. */
export function createHistory(connections: Connections) {
  return {
    counters: createHistoryCounters(connections),
    marks: createHistoryMarks(connections),
    /** See createSampleWriter. */
    writer: (most?: Readonly<Record<HistorySubject, number>>) => createSampleWriter(connections, most),
    /** See rollUp. */
    rollUp: (hour: number, fence: Fence) => rollUp(connections, hour, fence),
    /** See readSeries. */
    read: (given: Parameters<typeof readSeries>[1]) => readSeries(connections, given),
    /** See readRecent. */
    recent: (given: Parameters<typeof readRecent>[1]) => readRecent(connections, given),
  };
}
