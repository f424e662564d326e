export { authEntropy } from './auth-entropy.js';
export { fallbackText } from './fallback-uri.js';
export { findTokens, MAX_TOKENS_PER_MESSAGE, type FoundToken } from './find-tokens.js';
export { CUT, findStraddlingTokens, TOKEN_SPAN, tokenEdges } from './token-edges.js';
export { deriveToken, TOKEN_LENGTH } from './token.js';
