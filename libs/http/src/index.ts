export { type Coding, codingOf } from './accept-encoding.js';
export { BODY_FRAGMENTED, isFragmented, WholeBodyRequest } from './body-pieces.js';
export { boundedQuery } from './bounded-query.js';
export { compressed } from './compressed.js';
export { hasMoreValues } from './json-values.js';
export { type DocumentAnswer, KeptDocument } from './kept-document.js';
export { forbidSniffing } from './no-sniffing.js';
export { boundRequests } from './bounded-requests.js';
export { headFault, WebSocketOrPlainRequest } from './request-head.js';
