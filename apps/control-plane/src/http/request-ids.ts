import { createRequestIds } from '@countersign/telemetry';

/** The ids of the requests to this process. */
export class RequestIds {
  readonly next = createRequestIds();
}
