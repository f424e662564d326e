export { QUICK_LOOK_SECONDS, QuickLooks } from './quick-looks.js';
