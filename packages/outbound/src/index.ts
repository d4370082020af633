export { connectPublic, createResolve, type Dial, type Resolve } from './connect-public.js';
export { createMail, type Mail } from './mail.js';
export { createPost, type Post, type PostOutcome } from './post.js';
