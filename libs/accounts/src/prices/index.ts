export { CodePrices } from './code-prices.js';
export { PRICED_CHANNELS, type Price, type PricedChannel } from './price.js';
export { PriceStore } from './price.store.js';
export { isUsd, renderUsd } from './usd.js';
