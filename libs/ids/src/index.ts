export {
  firstIdAt,
  ID_CLOCK_SLACK_MS,
  idBounds,
  idOf,
  idTimeMs,
  isUuid,
  lastIdAt,
  newId,
  parseId,
  renderId,
  type IdSource,
  type Uuid,
} from './id.js';
export { RenderedIds } from './rendered-ids.js';
