/**
 * Why a try is ended before its answer came, as the reason of its signal. Made once: an error a call is as dear as a
 * small answer. Any other reason is the client's, who went away.
 */

/** The time of the whole call was up. */
export const TIMED_OUT = new Error('no node answered in time');

/** Another node answered first. */
export const OVERTAKEN = new Error('another node was faster');
