export {
  ALL,
  CLONE,
  GIVEN,
  getGiven,
  type Json,
  type Recorded,
  type RecordingName,
  type Recordings,
} from './recordings.js';
