/** Something that stands still or is wrong until somebody acts. */
export interface Finding {
  kind:
    | 'nodes-silent'
    | 'wrong-answer'
    | 'quarantine'
    | 'alarm'
    | 'no-ingester'
    | 'budget'
    | 'key-expires'
    | 'paused';
  /** Empty: it concerns none. */
  network: string;
  /** What is wrong, as a sentence without its network. */
  message: string;
  /** More of it: an error, or a reason that somebody gave. */
  detail: string | null;
  since: Date | null;
  /** When it ends by itself, or is tried again; null: not known, or never. */
  until: Date | null;
  /** The names of alarms that are open because of it. */
  alarms: string[];
  /** Of `alarm`: networks with the same alarm, this one left out. */
  others?: number;
  /** Of `wrong-answer`: the first of the blocks. */
  block?: number;
  /** Of `nodes-silent` and `wrong-answer`. */
  upstreams?: string[];
  /** Of `quarantine`. */
  cause?: string;
  /** Of `budget`. */
  provider?: string;
  /** Of `key-expires`: its prefix; absent: it is of several. */
  key?: string;
  /** Of `paused`: its ID; absent: it is of several. */
  backfill?: number;
}
