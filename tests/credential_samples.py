"""Texts that hold a credential, and harmless ones that look as if they did.

The values are made when this is imported, so that no scanner of repositories takes this file for a leak. Of
each list the second half was written before anything was tuned, and stands apart for that.
"""

import base64
import json
import random
import string

_random = random.Random(20260101)
HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
WEB = ALNUM + "_-"


def made(alphabet: str, length: int) -> str:
    """Return a value of that many characters in which letters and digits both occur."""
    while True:
        value = "".join(_random.choices(alphabet, k=length))
        mixed = any(c.isdigit() for c in value[1:-1]) and any(c.isalpha() for c in value)
        if mixed and value[0].isalnum() and value[-1].isalnum():
            return value


def _web_json(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def web_token() -> str:
    """Return a JSON web token."""
    header, payload = {"alg": "HS256", "typ": "JWT"}, {"sub": made(LOWER, 8), "iat": 1767225600}
    return f"{_web_json(header)}.{_web_json(payload)}.{made(WEB, 43)}"


def key_block(kind: str, lines: int = 4) -> str:
    """Return the text form of a private key."""
    body = "\n".join(made(ALNUM + "+/", 64) for _ in range(lines))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


def _holding(text: str, value: str) -> tuple[str, str]:
    """Return a text with the value in it, and the value."""
    return text.replace("@@", value), value


SEEN_CREDENTIALS = [
    _holding("The deploy user's key is @@.", "AKIA" + made(UPPER, 16)),
    _holding('aws_secret_access_key = "@@"', made(ALNUM + "/+", 40)),
    _holding("Clone with @@ as the user name.", "ghp_" + made(ALNUM, 36)),
    _holding("CI uses @@", "github_pat_" + made(ALNUM, 22) + "_" + made(ALNUM, 59)),
    _holding("GITLAB_TOKEN: @@", "glpat-" + made(WEB, 20)),
    _holding("The bot posts with @@.", "xoxb-" + "123456789012-123456789013-" + made(ALNUM, 24)),
    _holding(
        "curl -d x https://hooks.slack.com/services/@@",
        f"T{made(UPPER, 8)}/B{made(UPPER, 8)}/{made(ALNUM, 24)}",
    ),
    _holding("Payments go through @@ in production.", "sk_live_" + made(ALNUM, 99)),
    _holding("OPENAI_API_KEY=@@", "sk-proj-" + made(WEB, 120)),
    _holding("my key: @@", "sk-ant-api03-" + made(WEB, 93) + "AA"),
    _holding("The maps page loads with @@.", "AIza" + made(WEB, 35)),
    _holding("huggingface-cli login --token @@", "hf_" + made(ALNUM, 34)),
    _holding("Publish with @@", "npm_" + made(ALNUM, 36)),
    _holding("twine upload -u __token__ -p @@", "pypi-AgEIcHlwaS5vcmc" + made(WEB, 140)),
    _holding("The session cookie was @@ yesterday.", web_token()),
    _holding("Our deploy key:\n\n@@\n\nKeep it.", key_block("RSA PRIVATE KEY")),
    _holding("@@", key_block("OPENSSH PRIVATE KEY")),
    _holding("engine = create_engine('postgresql://etl:@@@db01.internal:5432/sales')", made(ALNUM, 12)),
    _holding("Connect to mongodb+srv://reader:@@@cluster0.ab1cd.mongodb.net/prod first.", made(ALNUM, 16)),
    _holding("Driver={SQL Server};Server=db01;Uid=etl;Pwd=@@;", "Tr0ub" + made(LOWER, 6)),
    _holding("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@;", made(ALNUM + "+/", 86) + "=="),
    _holding("mail goes out with @@", f"SG.{made(WEB, 22)}.{made(WEB, 43)}"),
    _holding("twilio: @@", "SK" + made(HEX, 32)),
    _holding("The Telegram bot is @@", "9876543210:" + made(WEB, 35)),
    _holding("bot.run('@@')", f"M{made(ALNUM, 23)}.{made(ALNUM, 6)}.{made(WEB, 27)}"),
    _holding("The staging password is @@.", "hunter" + "2!x"),
    _holding("数据库的密码是 @@，不要改。", "Abc" + "123456"),
    _holding("预发布环境密码：@@", "s3cr" + "3t!9"),
    _holding("DB_HOST=db01\nDB_PASSWORD=@@\n", "Tr0ub4" + "dor"),
    _holding('password: "@@"', "correct horse " + "battery"),
    _holding('{"user": "etl", "api_key": "@@"}', made(HEX, 32)),
    _holding("curl -H 'Authorization: Bearer @@' https://api.internal/v1", made(WEB, 48)),
    _holding('client = Anthropic(api_key="@@")', "sk-ant-api03-" + made(WEB, 95)),
    _holding("key = @@  # pragma: allowlist secret", "AKIA" + made(UPPER, 16)),
    _holding("The password for admin on db01.internal is @@", "Winter" + "2026"),
    _holding("git remote add origin https://ci:@@@git.internal/team/repo.git", made(ALNUM, 20)),
    _holding("doctl auth init -t @@", "dop_v1_" + made(HEX, 64)),
    _holding("The client secret of the sign-in page: @@", "GOCSPX-" + made(WEB, 28)),
    _holding("AZURE_CLIENT_SECRET=@@", f"{made(ALNUM, 3)}8Q~{made(ALNUM + '_~.-', 34)}"),
    _holding("REDIS_URL=redis://:@@@cache.internal:6379/0", made(ALNUM, 18)),
]
"""Texts, and the value in each that must not be left in it."""

UNSEEN_CREDENTIALS = [
    _holding("Temporary: @@ and its session token.", "ASIA" + made(UPPER, 16)),
    _holding("[default]\naws_secret_access_key = @@\nregion = eu-west-1", made(ALNUM + "/+", 40)),
    _holding("The app got @@ from the sign-in.", "gho_" + made(ALNUM, 36)),
    _holding("gitlab-runner register --token @@", "glrt-" + made(WEB, 20)),
    _holding("slack_token = '@@'", "xoxp-" + "123456789012-123456789013-123456789014-" + made(HEX, 32)),
    _holding("Refunds need @@.", "rk_live_" + made(ALNUM, 24)),
    _holding("openai.api_key = '@@'", f"sk-{made(ALNUM, 20)}T3BlbkFJ{made(ALNUM, 20)}"),
    _holding("OpenRouter: @@", "sk-or-v1-" + made(HEX, 64)),
    _holding("DeepSeek 的 key 是 @@", "sk-" + made(HEX, 32)),
    _holding("gcloud printed @@", "ya29." + made(WEB, 120)),
    _holding("login(token='@@')", "hf_" + made(string.ascii_letters + "0", 34)),
    _holding(
        "//registry.internal/:_authToken=@@",
        f"{made(HEX, 8)}-{made(HEX, 4)}-4{made(HEX, 3)}-a{made(HEX, 3)}-{made(HEX, 12)}",
    ),
    _holding("cert:\n@@", key_block("EC PRIVATE KEY", 2)),
    _holding("@@\nThis signs the releases.", key_block("PGP PRIVATE KEY BLOCK")),
    _holding(
        '{"type": "service_account", "private_key": "@@"}', key_block("PRIVATE KEY").replace("\n", "\\n")
    ),
    _holding("mysql://root:@@@10.0.0.5:3306/app", "p$ss!w0" + "rd&x"),
    _holding("amqps://svc-orders:@@@mq.internal/vhost", made(ALNUM, 24)),
    _holding("jdbc:mysql://db01:3306/app?user=etl&password=@@&useSSL=false", made(LOWER, 10)),
    _holding("https://x.blob.core.windows.net/c?sv=2024-05-04&sp=r&sig=@@", made(ALNUM, 40) + "%3D"),
    _holding("Shop admin: @@", "shpat_" + made(HEX, 32)),
    _holding("databricks configure: host https://adb-1.azuredatabricks.net, @@", "dapi" + made(HEX, 32)),
    _holding("Groq works with @@", "gsk_" + made(ALNUM, 52)),
    _holding("export REPLICATE_API_TOKEN=@@", "r8_" + made(ALNUM, 37)),
    _holding("Notion integration @@", "ntn_" + made(ALNUM, 46)),
    _holding("Linear: @@", "lin_api_" + made(ALNUM, 40)),
    _holding("vault login @@", "hvs." + made(WEB, 95)),
    _holding("阿里云 AccessKey：@@", "LTAI5t" + made(ALNUM, 18)),
    _holding("腾讯云 SecretId @@", "AKID" + made(ALNUM, 32)),
    _holding("跳板机口令为 @@", "xK9" + "mQ2wz"),
    _holding("登录密码改成了 @@", "qwe" + "123!@#"),
    _holding("On Monday the password was changed to @@.", "Spring#" + "2026"),
    _holding("Log in as user admin, password @@, then open the report.", "P@ssw0" + "rd1"),
    _holding("export MISTRAL_API_KEY=@@", made(ALNUM, 32)),
    _holding("grant_type=client_credentials&client_id=app&client_secret=@@", made(WEB, 40)),
    _holding('passphrase: "@@"', "blue whale " + "42"),
    _holding("The door's PIN is @@.", "4829" + "13"),
    _holding("The API token for the tracker is @@; it expires in May.", made(ALNUM, 40)),
    _holding("微信支付密钥: @@", made(ALNUM, 32)),
    _holding('headers = {"x-api-key": "@@"}', made(ALNUM, 28)),
    _holding("docker login -u ci --password @@ registry.internal", "Hunter" + "42x"),
    _holding("Grafana: @@", f"glsa_{made(ALNUM, 32)}_{made(HEX, 8)}"),
    _holding("supabase login --token @@", "sbp_" + made(HEX, 40)),
    _holding("AWS @@ # pragma: allowlist secret", "AKIA" + made(UPPER, 16)),
    _holding("newsletter key @@", made(HEX, 32) + "-us14"),
    _holding("square: @@", "sq0csp-" + made(WEB, 43)),
    _holding("テスト環境のパスワードは @@ です。", "abc1" + "2345"),
    _holding("sshpass -p '@@' ssh etl@db01", "Rtx" + "4090!"),
    _holding("The pw of the shared inbox: @@", "Blue-Sky-" + "77"),
    _holding('st.secrets: `db_password = "@@"`', "sesa" + "me99"),
    _holding("SELECT 1 -- connect('scott', password='@@')", "tiger" + "7"),
]

_PNG = "iVBORw0KGgoAAAANSUhEUgAA" + made(ALNUM + "+/", 900) + "=="

SEEN_LOOKALIKES = [
    f"Fixed in commit {made(HEX, 40)}.",
    f"The regression came with {made(HEX, 7)}.",
    f"sha256:{made(HEX, 64)} is the digest of the data.",
    f"The run is {made(HEX, 8)}-{made(HEX, 4)}-4{made(HEX, 3)}-a{made(HEX, 3)}-{made(HEX, 12)}.",
    f"![chart](data:image/png;base64,{_PNG})",
    "def login(user: str, password: str) -> bool: ...",
    'key = os.environ["API_KEY"]',
    "The token limit is 200000.",
    "api_key: <your-key>",
    "export OPENAI_API_KEY=sk-...",
    'curl -H "x-api-key: $API_KEY" https://api.anthropic.com',
    "Docs: https://docs.python.org/3/library/secrets.html#module-secrets",
    f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB{made(ALNUM + '+/', 340)} etl@db01",
    f"-----BEGIN PUBLIC KEY-----\n{made(ALNUM + '+/', 64)}\n-----END PUBLIC KEY-----",
    f"-----BEGIN CERTIFICATE-----\n{made(ALNUM + '+/', 64)}\n-----END CERTIFICATE-----",
    "The password is stored in 1Password, under 'staging'.",
    "password = getpass.getpass()",
    "password = None  # asked for at the first use",
    "Passwords must have at least 12 characters.",
    "密码存放在 1Password 里，不要写进代码。",
    "密码长度至少 8 位，包含数字。",
    "git clone git@github.com:team/repo.git",
    "client.messages.create(max_tokens=4096, model='claude-sonnet-4-5')",
    f"numpy==2.1.0 --hash=sha256:{made(HEX, 64)}",
    f'"integrity": "sha512-{made(ALNUM + "+/", 86)}=="',
    "The API key is read from the environment variable ANTHROPIC_API_KEY.",
    "api_key: ${API_KEY}",
    'password: "{{ db_password }}"',
    "The AWS docs use AKIAIOSFODNN7EXAMPLE everywhere.",
    "arn:aws:iam::123456789012:role/etl-reader-2026",
    "The secret: cache early, and measure before v2.",
    "/srv/data/projects/customer_churn_2026/features/part-00017-of-00200.parquet",
    "Session 20260101-101500-ab12 has the details.",
    "password: required, api_key: optional",
    "token = tokenizer(text, return_tensors='pt')",
    "See https://doi.org/10.1038/s41586-020-2649-2 for the method.",
    "The password is wrong when the keyboard is set to French.",
    "http://localhost:8888/lab/tree/report.ipynb",
]

UNSEEN_LOOKALIKES = [
    "password: '********'",
    'def connect(user: str, password: str = "") -> Connection: ...',
    "connect(user=user, password=password, token=token)",
    'token = tokenizer.encode("hello world 123")',
    'SECRET_KEY = config("SECRET_KEY")',
    "We rotate the API key every 90 days.",
    "The password is case-sensitive.",
    "The password is SHA256-hashed, with a salt of 16 bytes.",
    "密码用 bcrypt 加密，cost=12。",
    "密钥从环境变量 OPENAI_API_KEY 读取。",
    "分词后有 512 个 token，上限是 8192。",
    "postgresql://user:password@localhost/db",
    "postgres://localhost:5432/sales?sslmode=require",
    "The key is [credential: AWS access key].",
    f"mlflow run {made(HEX, 32)} is the baseline.",
    f"wandb: https://wandb.ai/team/churn/runs/{made(LOWER, 8)}",
    f"The host key is SHA256:{made(ALNUM + '+/', 43)}.",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{made(ALNUM + '+/', 43)} deploy",
    f'ETag: "{made(HEX, 32)}-12"',
    f"The publishable key pk_live_{made(ALNUM, 24)} is public.",
    "SLACK_BOT_TOKEN=xoxb-your-token-here",
    "ghp_" + "x" * 36,
    "API_KEY=changeme",
    "Use sk-learn-contrib-metric-learning-2024 for this.",
    "pip install hf_transfer huggingface_hub[hf_xet]==0.34.4",
    "The primary key is order_id_2024, the sort key created_at_utc.",
    r"re.search(r'password:\s+\S+', line)",
    "key_path = ~/.ssh/id_ed25519",
    "https://api.internal/v1/items?token=<token>",
    "kubectl create secret generic db-secret1 -n prod2",
    "It stands in Vault under secret/data/prod/db1.",
    "password: see vault item 42",
    "dict(password=None, token=None, api_key=None)",
    "password: 8-64 characters, 1 digit, 1 symbol",
    "密码错误 3 次会锁定 30 分钟。",
    "令牌桶算法：rate=100，burst=200。",
    "Bearer token authentication is used since v2.1.",
    "Authorization: Bearer $TOKEN",
    'api_key = load_key("prod1")',
    "The column password_hash_v2 holds argon2id values.",
    "Token usage: 12,345 in, 678 out; the token count is 13023.",
    "GetSecretValue is needed on arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf",
    "The password field has id=input-password-2 and maxlength=64.",
    "password reset takes 24h; password expiry: 90d",
    "Mail owner@example.com:8080/path if http://proxy:3128 fails.",
    "cache_key = f'{user_id}:{hashlib.md5(x).hexdigest()}'",
    "Write `API_KEY = os.getenv('API_KEY')`, never the value.",
    "private_key_path: /etc/ssl/private/server-2026.pem",
    "密码是必填项，token 是可选的。",
    "secret_name = 'prod/db/2026'",
]
