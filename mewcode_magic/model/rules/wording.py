"""The words by which `stated` tells what lasts, in English and Chinese: a pattern for each question.

In the lists a space separates words, and an underscore stands for a space inside one.
"""

from __future__ import annotations

import re

__all__ = [
    "ANYWHERE",
    "BEHAVIOUR",
    "CLAUSE",
    "CORRECTION",
    "COURTESY",
    "EVER",
    "EXCLUDED",
    "FORECAST",
    "LASTING",
    "LEAD",
    "OPENER",
    "POLITE",
    "RULE",
    "SINGLE",
    "TO_DO",
]


def _one(words: str) -> str:
    """Return what matches one of the words."""
    return f"(?:{'|'.join(words.split())})".replace("_", r"\s+")


def _whole(words: str) -> str:
    """Return what matches one of the words, but no part of another."""
    return rf"\b{_one(words)}\b"


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


_SCOPE = _one("project repo repository code_?base package library team company workspace organi[sz]ation")
_PAUSE_ZH = r"[\s\uff0c,\uff1a:\uff01\u3002]*"
_FAILS_ZH = _one("报错 失败 出错 崩溃 返回 为空 出现 显示 提示 变成 很慢 卡住 得到") + (
    r"|都?要(?:跑|花|等)?(?:很|好|\d|几|半)"
)
_DONT_ZH = r"别(?![人的处名])"
"""Not where it begins another word, as the one for other people."""

_NOW_ZH = r"(?!.*[\uff0c,](?:把|将|请|改|换|再|所以|但|不过|继续|就|那))"
"""What is to be done at once does not follow."""

# --- what a sentence must not be

_ASKS = _pattern(
    rf"^\W*{_one('why how what where who whom whose which is are was were does did has shall may should')}\b",
    r"^\W*(?:let's|let us|do(?!\s+not\b)|(?:can|could|would|will)(?!\s+you\b))\b",
    r"^\W*when\s+(?:do|does|did|is|are|was|should|can|will)\b",
    _one("为什么 为啥 怎么 怎样 怎办 什么时候 多少 哪些? 是不是 有没有 会不会 能不能 要不要 是否 吗"),
    r"呢[\s\u3002\uff1f?]*$",
)
_SUPPOSES = _pattern(
    r"^\W*(?:if|unless|even if|for example|for instance|e\.g\.)(?!\w)",
    _whole("suppose supposing assum(?:e|ing) imagine what_if let's_say say_we pretend"),
    _whole("maybe perhaps might wonder(?:ing)? as_if"),
    r"^(?:例如|比如)",
    _one("假设 假如 假定 如果 要是 倘若 万一 也许 可能 或许"),
)
_OF_THE_MOMENT = _pattern(
    _whole(r"(?<!from\s)here (?<!from\s)now(?!\son) just_now at_the_moment today tonight tomorrow yesterday"),
    _whole("currently temporarily until yet above below just_(?:this_)?once these those"),
    rf"\b(?<!from\s)this\b(?!\s+{_SCOPE}\b)",
    r"\b(?:line|cell|step|row)\s+\d+",
    rf"\bthe\s+{_one('second third next other former latter following current cached')}\b",
    r"\b(?:the|my|your)\s+(?:existing|same|previous|last|first)\b",
    r"^\W*for (?:the|my)\b",
    _one("上一 下一 这次 本次 此次 这一次 这回 这里 此处 这儿 刚才 刚刚 上面 下面 上述 以上 以下 前面"),
    _one("(?<!从)现在(?!起|开始) (?<!从)今天 明天 昨天 今晚 上次 稍后 以前 曾经 过去 暂时 目前"),
    r"这(?!个?(?:项目|仓库|代码库|团队|公司))[个段张些条种列行步份句篇套边样]|那[个段张些条种次]",
    r"第[一二三四五六七八九十\d]|先(?=不要|别)|还(?=不要|没)",
)
_REPORTS = _pattern(
    _whole("says? said saying according_to wrote claims? claimed told tells quot(?:e[sd]|ing)"),
    r"\b(?:recommend|suggest|advise|state)(?:s|d|ed|ing)\b",
    _one("文档 网页 网站 页面 文章 教程 手册 说明 邮件 博客 书 论文 作者 同事 老板 老师 官方 [他她]们? 有人")
    + r"[^\uff0c\u3002\uff1b]{0,8}(?:说|写|建议|要求|提到|表示|推荐|认为|提示|显示)",
    _one("写着 写道 据说 听说 引用 人们 别人 大家都?说"),
)
_IS_CODE = _pattern(
    r"^\s*(?:def|class|import|return|assert|raise|elif|lambda)\s",
    r"^\s*from\s+\S+\s+import\b|^\s*for\s+\w+\s+in\s",
    r"^\s*(?:[%!@$#]|//|--)|^\s*[\w.]+\s*\(",
    r"^[\w.\[\]'\"\u25a1]+\s*[-+*/|&]?=|==|!=|\+=|:=|=>|->|[{}]\s*$",
)
EXCLUDED = (_ASKS, _SUPPOSES, _OF_THE_MOMENT, _REPORTS, _IS_CODE)

COURTESY = _pattern(
    rf"(?:{_one('ok(?:ay)? thanks? thank_you please great nice perfect good no yes hi hello hey sorry')}"
    r"[\s,.!]*){1,4}",
    rf"(?:好的?|谢谢你?|多谢|嗯|辛苦了|你好|抱歉|对){_PAUSE_ZH}",
)
"""A whole sentence of this says nothing."""

# --- what opens a sentence

LEAD = re.compile(
    r"\W*(?:(?:"
    + _one("please pls also and but so ok(?:ay)? hey hi thanks note btw by_the_way in_general generally")
    + "|"
    + _one(r"as_a_rule oh well no(?!\smore\b) yes actually sorry great perfect nice good again")
    + rf")\b[\s,:.!-]*|{_one('请 麻烦 拜托 好的 嗯 对了 另外 还有 那么 谢谢 注意')}{_PAUSE_ZH})*",
    re.IGNORECASE,
)
CLAUSE = _pattern(
    rf"in (?:our|my|this) {_SCOPE}[\s,]+",
    rf"{_one('when whenever while before after in for on with as every_time each_time by')}\b[^,.;:]{{2,80}},"
    r"\s*(?:please\s+)?",
    r"(?:在|对于?|凡是)?[^\uff0c\u3002,]{1,24}(?:里|中|时|的时候|之前|之后)[\uff0c,]?请?",
)
"""When or where a rule holds."""
POLITE = _pattern(r"(?:can|could|would|will)\s+you\s+(?:please\s+)?")
_AFTERWARDS_ZH = _one("以后 今后 往后 日后 从现在起 从现在开始 从今以后 从今天起 从今往后 从今天开始")
OPENER = _pattern(
    r"(?:from (?:now|here|today) (?:onwards?|forward|on(?: out)?)|going forward|henceforth"
    r"|in (?:the )?future(?=,| please)|for future reference)\b[\s,:]*(?:please\s+)?(?=\S+\s+\S)",
    rf"(?:你|我们|咱们|大家)?{_AFTERWARDS_ZH}{_PAUSE_ZH}(?:请|你|我们)?都?(?=.{{3}})(?!再|的|有|等)",
)
FORECAST = _pattern(_whole("will would may could is_going_to are_going_to"), r"[,;]\s*so\b", "会|将|再说")
"""What is to come or to be done at once, not how things are done."""

# --- what makes a sentence lasting

_NO_VERB = _one(
    "mind seen again been the an? null nan none true false zero empty same get got had has have is are was"
    " were thought said gave made found knew saw more less once before happy right wrong there in on at"
    " fails? crash be happen occur work end finish seem appear"
)
_VERB = (
    rf"(?!{_NO_VERB}\b)(?:seed|embed|feed|bring|(?![a-z]+ed\b|[a-z]{{2,}}ing\b|[a-z]+[^s\W]s\b)[a-z]{{2,}})\b"
)
_NOT_IT = r"(?!\s+(?:it|them|that|him|her)\b)"
RULE = _pattern(
    r"(?:(?:and|you|we|I|one)\s+(?:should|must|have to|need to|shall|can|want you to|expect you to)\s+)?"
    rf"(?:always|never(?:\s+ever)?|(?:do not|don't)\s+ever)\s+{_VERB}{_NOT_IT}\s+\S",
    rf"I(?:'d| would)\s+(?:rather|prefer|like)\b.{{0,40}}\b(?:always|never)\s+{_VERB}",
)
_HAPPENS = _one(
    "see find run_into lose forget need know think wonder receive expect meet hit remember seem want"
)
_HABIT = _pattern(
    rf"(?:we|our team|the team|my team)\s+(?:always|never|usually|normally"
    rf"|generally)\s+(?!{_HAPPENS}\b){_VERB}{_NOT_IT}",
    r"I\s+(?:always|never|usually|normally|generally)\s+"
    + _one(
        "use write work name put prefer keep store save commit tag format indent import log avoid want answer"
    )
    + rf"\b{_NOT_IT}",
)
_LIKES = _one(r"prefer like favou?r hate dislike detest can't_stand (?:don't|do_not|never)_(?:like|want)")
_PARTICULAR = _one(
    "the it that what how your where when an? both neither either option version plan you him her them [AB]"
    " to_(?:go|do|wait|stop|skip|leave|continue|try|finish|move|discuss|know|ask|say|be|think)"
)
_GOES_ON = _one(
    "(?:but_)?not over rather especially because since in for when and or with even"
    " at_least also thanks please"
)
"""What may follow the comma in a preference; anything else is what is to be done about it now."""
_LIKING = _pattern(
    rf"(?:I\s+(?:{_one('really strongly much generally usually always personally still do also')}\s+)*"
    rf"{_LIKES}\s+(?!{_PARTICULAR}\b)(?=\S)"
    r"|my\s+(?:preferred|favou?rite|usual|default|preference)\b[^.,]{0,60}\b(?:is|are)\s)"
    rf"(?!.*,(?!\s*{_GOES_ON}\b))",
    rf"我{_one('个人 一般 通常 平时 比较 更 最 还是 很 非常 总是 都 真的 不太')}*"
    rf"{_one('不?喜欢 偏好 偏爱 习惯 倾向于? 讨厌 受不了')}"
    rf"(?!这|那|它|第|你|您|哪|什么|前者|后者|了)(?=\s*\w){_NOW_ZH}",
    "我的(?:偏好|习惯)是",
)
_WHENEVER = _pattern(
    r"(?:every time|each time|whenever|any ?time)\s+you\s+(?![^,]*\bit\b)[^,]{3,80},\s*"
    r"(?:(?:please|also|then|always)\s+)*(?!(?:it|the|there|I|we|you|they|an?|my|your|our)\b)[a-z]+\s"
)
_RULE_ZH = _pattern(
    r"(?:你|您|咱们|大家|代码|我们(?:的?(?:项目|团队|代码|仓库))?)?(?:应该|必须|要|都)?"
    rf"(?:(?:总是|始终){_one('先 用 使用 以 按 写 给 加 把 在 附 标 注 检查 解释 回答')}|永远|从不|一律)"
    rf"(?!.{{0,12}}(?:{_FAILS_ZH}))(?!是|有|没|为|差|慢)(?=.{{2}})"
)
LASTING = (RULE, _HABIT, _LIKING, _WHENEVER, _RULE_ZH)
"""How a sentence begins that lasts, behind its lead and a clause."""
ANYWHERE = _pattern(
    rf"(?:每次|每回|每当)(?!.*(?:{_FAILS_ZH}|太|优化|能))[^\u3002]{{1,40}}?"
    rf"(?:都[要得用加写给]|先|请|必须|应该|应当|不要|{_DONT_ZH}|记得|务必)",
    r"(?:别|不要|不准|请勿)再(?!说|问|运行|跑|等|试|来)(?=.{2})",
    rf"[\u4e00-\u9fff ]一律(?!.{{0,12}}(?:{_FAILS_ZH}))(?=.{{2}})",
    "我希望你(?:以后|总是|每次|永远)",
    rf"[\uff0c,]\s*(?:请|你|我们)?{_AFTERWARDS_ZH}(?!再|的|.{{0,6}}(?:会|将))(?=.{{4}})",
    r"\b(?:from now on|from here on|going forward|henceforth)[.!]*$",
)
"""What makes a sentence lasting wherever it stands."""
BEHAVIOUR = _pattern(
    r"^\W*(?:always|never)\s+\w+\s+(?:the|my|all)\b",
    r"^\W*(?:(?:and|it|they|you)\s+(?:should|must)\s+)?(?:always|never)\s+"
    rf"{_one('return raise yield throw produce output contain assume give accept loop block')}\b",
)
"""Beside a task: what its code should do, or what to do with its data."""
TO_DO = _pattern(
    rf"(?:please\s+)?remember(?:\s+to\b|,)(?!.*{_whole('always never every_time whenever each_time')})"
)
"""An order to think of something, not to keep it."""

# --- corrections, which may be for the moment

_MANNER = _one(
    "use write import add put abbreviate suggest propose install name call mix mutate hard-?code comment"
    " explain apologi[sz]e repeat guess invent translate answer"
)
_MANNERS = _one(
    "using writing importing adding putting abbreviating suggesting proposing installing naming calling"
    " mixing mutating hard-?coding commenting explaining apologi[sz]ing repeating guessing inventing asking"
)
"""Of all that one may say not to do, how work is done in general; what to do with the data is a task."""
_DEFINITE = _one("the that it them my your any(?:thing|more)? all me him her us more_than")
CORRECTION = _pattern(
    rf"(?:(?:do not|don't|dont)\s+(?:ever\s+)?{_MANNER}|(?:stop|quit|avoid)\s+{_MANNERS}|avoid(?=\s+\S+\s+\S)"
    rf"|no more(?!\s+(?:than"
    rf"|{_one('questions? changes? time data errors? memory rows? results? issues?')})\b)"
    r"|use(?=\s[^.]{1,60}(?:instead of|rather than|,? not\b)))"
    rf"(?!\s+{_DEFINITE}\b)\s+(?=\S)",
    rf"(?:你|您)?(?:不要|{_DONT_ZH}|请勿|禁止)(?=\s*"
    rf"{_one('用 使用 写 加 添加 导入 安装 缩写 重复 猜 编造 解释 道歉 硬编码 省略 混用')}.){_NOW_ZH}",
    "用(?=.{1,30}(?:而不是|不要用|别用))",
)
SINGLE = _pattern(r"\b(?:don't|do not|avoid|stop)\s+\w+\s+an?\b", r"^\W*use\b", "^用")
"""About one thing, as a loop that was just written, or the very thing to do now."""
EVER = _pattern(
    _whole("ever anymore any_more again in_general at_all"),
    rf"\bin (?:this|our|my) {_SCOPE}\b",
    _one("永远 任何时候 一律 总是"),
    r"^\W*no more\b",
)
